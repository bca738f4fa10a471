/** The right column: session, figures, nodes with their ages, events. */
import { clearance } from '../alerts';
import type { GraphEvent, NodeRow, State } from '../protocol';
import { eventText, fromPage, nodeName } from '../words';
import { button, h, text, tone } from './dom';

const MAX_EVENTS = 60;
const seconds = (value: number | null): string => (value === null ? 'never' : value < 10 ? `${value.toFixed(1)} s` : `${value.toFixed(0)} s`);
const ms = (value: number | null): string => (value === null ? '–' : `${value.toFixed(value < 10 ? 2 : 0)} ms`);

/** Which session commands make sense in a state. */
const ALLOWED: Record<string, string[]> = {
  disconnected: ['connect'],
  connecting: ['disconnect'],
  connected: ['start', 'reset', 'disconnect'],
  running: ['stop', 'reset', 'disconnect'],
  fault: ['connect', 'disconnect'],
};

/** What a state means to the operator. */
const NEXT: Record<string, string> = {
  disconnected: 'press Connect, then Start',
  connecting: 'waits for the parts named above',
  connected: 'the arms hold; press Start',
  running: 'a closed grip drives its arm',
  fault: 'the arms hold; see the warning above',
};

export class SessionCard {
  readonly element: HTMLElement;
  private readonly badge = h('strong', { class: 'badge' });
  private readonly next = h('p', { class: 'next' });
  private readonly facts = h('p', { class: 'facts' });
  private readonly buttons = new Map<string, HTMLButtonElement>();
  private readonly stance = h('select', { 'aria-label': 'stance' }, ...['behind', 'facing', 'camera'].map((s) => h('option', { value: s }, `stance ${s}`)));
  private readonly home: HTMLButtonElement;
  private readonly sim: HTMLElement;

  constructor(onCommand: (command: string) => void, onHome: () => void, onStance: (stance: string) => void, onSim: (what: 'reset' | 'cubes') => void) {
    const row = h('div', { class: 'buttons' });
    for (const name of ['connect', 'start', 'stop', 'reset', 'disconnect']) {
      const made = button(name, () => onCommand(name), name === 'start' ? 'primary' : '');
      this.buttons.set(name, made);
      row.append(made);
    }
    this.home = button('arms home', onHome);
    this.stance.onchange = () => onStance(this.stance.value);
    this.sim = h('div', { class: 'buttons' }, button('reset simulation', () => onSim('reset')), button('new cubes', () => onSim('cubes')));
    this.element = h('section', { class: 'card' }, h('h2', {}, 'Session'), this.badge, this.next, this.facts, row, h('div', { class: 'buttons' }, this.stance, this.home), this.sim);
  }

  update(state: State): void {
    const { session, operator } = state;
    const replay = session.provider === 'replay';
    text(this.badge, session.state.toUpperCase());
    tone(this.badge, { running: 'good', connected: 'busy', connecting: 'busy', fault: 'bad', unknown: 'bad' }[session.state] ?? 'idle');
    const pairs = Object.entries(session.pairing).map(([arm, hand]) => `${hand} hand → ${arm} arm`);
    text(this.next, state.estop.latched ? 'the e-stop holds the arms' : (NEXT[session.state] ?? 'nothing is heard of the session'));
    const facts = [`input ${session.provider || '–'}`, ...pairs, `scale ${session.scale ?? 1}`, operator.take_overs ? `${operator.take_overs} take-overs` : ''];
    text(this.facts, facts.filter(Boolean).join('  ·  '));
    const allowed = ALLOWED[session.state] ?? [];
    for (const [name, made] of this.buttons) made.disabled = !allowed.includes(name);
    const reset = this.buttons.get('reset');
    if (reset) text(reset, replay ? 'play again' : 'reset');
    this.home.disabled = session.state !== 'running';
    if (document.activeElement !== this.stance && session.stance) this.stance.value = session.stance;
    this.stance.disabled = session.state === 'unknown';
    this.sim.hidden = !state.arms.some((arm) => arm.sink === 'simulation');
  }
}

export class Figures {
  readonly element: HTMLElement;
  private readonly cells = new Map<string, HTMLElement>();

  constructor() {
    const grid = h('div', { class: 'figures' });
    const units: [string, string][] = [
      ['clearance', 'clearance'],
      ['latency', 'frame to command'],
      ['input', 'input frames'],
      ['gap', 'longest gap'],
      ['trip', 'round trip'],
      ['commits', 'commits'],
      ['refused', 'refused messages'],
      ['rtf', 'simulation speed'],
    ];
    for (const [key, label] of units) {
      const value = h('b');
      this.cells.set(key, value);
      const title = key === 'latency' ? 'median / 95th percentile' : '';
      grid.append(h('div', { title }, value, h('span', {}, label)));
    }
    this.element = h('section', { class: 'card' }, h('h2', {}, 'Figures'), grid);
  }

  update(state: State): void {
    const { link, latency_ms: latency, counts } = state;
    const harmless = ['frames', 'connections', 'haptics_felt', 'haptics_lost', 'broken_poses'];
    const refused = Object.entries(counts).reduce((sum, [name, n]) => (harmless.includes(name) ? sum : sum + n), 0);
    const values: Record<string, [string, string]> = {
      clearance: [clearance(state) || '–', state.guard?.holding ? 'busy' : ''],
      latency: [latency.p50 === null || latency.p95 === null ? '–' : `${latency.p50.toFixed(1)} / ${latency.p95.toFixed(1)} ms`, ''],
      input: [`${(fromPage(state) ? link.hz : (state.rates['finalised'] ?? 0)).toFixed(0)} Hz`, ''],
      gap: [link.gap_max === null ? '–' : ms(link.gap_max * 1000), link.gap_max !== null && link.gap_max > 0.1 ? 'busy' : ''],
      trip: [link.round_trip === null ? '–' : ms(link.round_trip * 1000), ''],
      commits: [`${(state.rates['commits'] ?? 0).toFixed(0)} Hz`, ''],
      refused: [String(refused), refused ? 'busy' : ''],
      rtf: [state.real_time_factor === null ? '–' : `${state.real_time_factor.toFixed(2)} ×`, state.real_time_factor !== null && state.real_time_factor < 0.9 ? 'busy' : ''],
    };
    for (const [key, [value, colour]] of Object.entries(values)) {
      const cell = this.cells.get(key);
      if (!cell) continue;
      text(cell, value);
      tone(cell, colour);
    }
  }
}

export class Nodes {
  readonly element: HTMLElement;
  private readonly list = h('ul', { class: 'nodes' });
  private readonly rows = new Map<string, { item: HTMLElement; age: HTMLElement }>();

  constructor() {
    this.element = h('section', { class: 'card' }, h('h2', {}, 'Nodes'), this.list);
  }

  update(nodes: NodeRow[]): void {
    for (const node of nodes) {
      let row = this.rows.get(node.name);
      if (!row) {
        const age = h('span', { class: 'num' });
        row = { item: h('li', {}, h('i', { class: 'dot' }), h('span', { class: 'name' }, nodeName(node.name)), age), age };
        this.rows.set(node.name, row);
        this.list.append(row.item);
      }
      // what is missing without it, and what to do, stands in the alerts on top
      tone(row.item, node.state === 'gone' ? 'bad' : node.state === 'waiting' || node.error ? 'busy' : 'good');
      text(row.age, node.state === 'ok' ? seconds(node.age) : node.state === 'gone' ? `silent ${seconds(node.age)}` : 'not heard');
    }
  }
}

export class Events {
  readonly element: HTMLElement;
  private readonly list = h('ol', { class: 'events' });

  constructor() {
    this.element = h('section', { class: 'card grow' }, h('h2', {}, 'Events'), this.list);
  }

  add(event: GraphEvent): void {
    this.say(event.unix_ms, eventText(event));
  }

  say(unixMs: number, words: string, colour = ''): void {
    const item = h('li', { 'data-tone': colour }, h('time', {}, new Date(unixMs).toLocaleTimeString([], { hour12: false })), ` ${words}`);
    this.list.prepend(item);
    while (this.list.children.length > MAX_EVENTS) this.list.lastElementChild?.remove();
  }
}
