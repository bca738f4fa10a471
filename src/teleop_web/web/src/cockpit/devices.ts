/** The tree of providers and their devices; what is in trouble opens by itself. */
import { deviceLine, type Line, providerLine, troubled } from '../devices';
import type { ProviderRow } from '../protocol';
import { h, text, tone } from './dom';

class Row {
  readonly element = h('div', { class: 'device' });
  private readonly name = h('span', { class: 'name' });
  private readonly state = h('span', { class: 'num' });
  private readonly note = h('span', { class: 'why' });

  constructor() {
    this.element.append(h('i', { class: 'dot' }), this.name, this.state, this.note);
  }

  update(line: Line): void {
    tone(this.element, line.tone);
    text(this.name, line.name);
    text(this.state, `${line.state} for ${line.since}`);
    text(this.note, line.note);
    this.note.hidden = line.note === '';
  }
}

class Provider {
  readonly element = h('details', { class: 'provider' });
  private readonly row = new Row();
  private readonly devices = new Map<string, Row>();
  private trouble: boolean | null = null;

  constructor() {
    this.element.append(h('summary', {}, this.row.element));
  }

  update(provider: ProviderRow): void {
    const own = providerLine(provider);
    const trouble = troubled(provider);
    // only the change opens or closes: what somebody opened stays open
    if (trouble !== this.trouble) this.element.open = trouble;
    this.trouble = trouble;
    this.row.update(own);
    this.element.classList.toggle('bare', provider.devices.length === 0);
    for (const device of provider.devices) {
      let row = this.devices.get(device.id);
      if (!row) {
        row = new Row();
        this.devices.set(device.id, row);
        this.element.append(row.element);
      }
      row.update(deviceLine(device, provider));
    }
  }
}

export class Devices {
  readonly element: HTMLElement;
  private readonly list = h('div', { class: 'devices' });
  private readonly providers = new Map<string, Provider>();

  constructor() {
    this.element = h('section', { class: 'card' }, h('h2', {}, 'Devices'), this.list);
  }

  update(providers: ProviderRow[] | null): void {
    this.element.hidden = providers === null;
    for (const provider of providers ?? []) {
      let shown = this.providers.get(provider.id);
      if (!shown) {
        shown = new Provider();
        this.providers.set(provider.id, shown);
        this.list.append(shown.element);
      }
      shown.update(provider);
    }
  }
}
