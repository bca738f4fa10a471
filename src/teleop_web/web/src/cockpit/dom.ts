/** A few lines instead of a framework: make elements once, then only change what changed. */

type Child = Node | string;

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Record<string, string> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export function byId<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element '${id}' in the page`);
  return found as T;
}

/** Set a text only when it differs: 10 updates a second must not disturb a selection. */
export function text(element: HTMLElement, value: string): void {
  if (element.textContent !== value) element.textContent = value;
}

export function tone(element: HTMLElement, name: string): void {
  if (element.dataset['tone'] !== name) element.dataset['tone'] = name;
}

export function button(label: string, onClick: () => void, kind = ''): HTMLButtonElement {
  const made = h('button', { type: 'button', class: kind }, label);
  made.onclick = onClick;
  return made;
}
