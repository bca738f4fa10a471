"""HTTPS gateway with the headset page and the desktop cockpit."""
