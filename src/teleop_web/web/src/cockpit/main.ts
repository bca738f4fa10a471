document.body.textContent = 'cockpit';
