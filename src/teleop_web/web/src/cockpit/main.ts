/** The desktop cockpit: everything at a glance, and a large e-stop. */
import { ALERT_TONES, alerts } from '../alerts';
import { estop, post } from '../api';
import { Link, type LinkState } from '../link';
import type { Result, State } from '../protocol';
import { driver, sinksText } from '../words';
import { ArmCard } from './arm';
import { Devices } from './devices';
import { button, byId, h, text, tone } from './dom';
import { RecorderCard } from './recorder';
import { Events, Figures, Nodes, SessionCard } from './system';
import { Views } from './views';

const STALE_MS = 1000;

let state: State | null = null;
let stateAt = 0;
const arms = new Map<string, ArmCard>();
const views = new Views(byId('views'));
const figures = new Figures();
const nodes = new Nodes();
const devices = new Devices();
const events = new Events();
const session = new SessionCard(
  (command) => void act(command === 'reset' && state?.session.provider === 'replay' ? 'play again' : `session ${command}`, `session/${command}`),
  () => void act('go home', 'home'),
  (stance) => void act(`stance ${stance}`, 'stance', { stance }),
  (what) => void (what === 'reset' ? act('simulation reset', 'sim/reset') : act('new cubes', 'sim/cubes', { seed: Math.floor(Math.random() * 2 ** 31) })),
);
const recorder = new RecorderCard((command, task) => void act(`recorder ${command.replace('_', ' ')}`, `record/${command}`, { task }));
byId('side').append(session.element, recorder.element, figures.element, nodes.element, devices.element);
byId('left').append(events.element);

const linkPill = h('span', { class: 'pill' });
const sinkPill = h('span', { class: 'pill' });
const operatorPill = h('span', { class: 'pill' });
const stop = button('E-STOP', () => void tell('E-STOP', estop(link)), 'estop');
const reset = button('reset e-stop', () => void act('e-stop reset', 'estop/reset'), 'reset');
byId('top').append(h('h1', {}, 'XR teleop'), linkPill, sinkPill, operatorPill, h('span', { class: 'grow' }), reset, stop);

/** Send a command and show its answer, good or bad. */
const act = (what: string, path: string, body: object = {}): Promise<void> => tell(what, post(path, body));

async function tell(what: string, result: Promise<Result>): Promise<void> {
  const answer = await result;
  const words = `${what}: ${answer.success ? 'done' : 'refused'}${answer.message ? ` - ${answer.message}` : ''}`;
  toast(words, answer.success ? 'good' : 'bad');
  events.say(Date.now(), words, answer.success ? '' : 'bad');
}

let toastTimer: number | undefined;
function toast(words: string, colour: string): void {
  const box = byId('toast');
  text(box, words);
  tone(box, colour);
  box.classList.add('shown');
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => box.classList.remove('shown'), colour === 'bad' ? 8000 : 3000);
}

function show(): void {
  const old = link.state !== 'open' || performance.now() - stateAt > STALE_MS;
  document.body.classList.toggle('stale', old);
  const texts: Record<LinkState, string> = { connecting: 'connecting', open: old ? 'gateway silent' : 'live', refused: 'not paired', replaced: 'opened elsewhere', closed: 'NO GATEWAY' };
  text(linkPill, texts[link.state]);
  tone(linkPill, old ? 'bad' : 'good');
  showAlerts(old);
  // nothing heard yet is no reason to show empty tables
  document.body.classList.toggle('blank', state === null);
  reset.hidden = !state?.estop.latched;
  if (!state) return;
  const sinks = sinksText(state.arms);
  text(sinkPill, sinks.text);
  tone(sinkPill, sinks.tone);
  text(operatorPill, driver(state) ? `operator: ${driver(state)}` : 'no operator');
  stop.classList.toggle('latched', state.estop.latched);
  text(stop, state.estop.latched ? 'E-STOP LATCHED' : 'E-STOP');
}

function showAlerts(old: boolean): void {
  const list = state ? alerts(state) : [];
  if (old && stateAt > 0) list.unshift({ level: 'stop', what: 'the gateway is silent', since: (performance.now() - stateAt) / 1000, remedy: 'what you see is old, and E-STOP on this page reaches nobody; it comes back within 1 s, else read its lines in the terminal' });
  const rows = list.map((alert) => {
    const since = alert.since === null ? '' : ` for ${alert.since < 10 ? alert.since.toFixed(1) : alert.since.toFixed(0)} s`;
    return h('div', { 'data-tone': ALERT_TONES[alert.level] }, h('b', {}, `${alert.what}${since}`), h('span', {}, alert.remedy));
  });
  byId('alerts').replaceChildren(...rows);
}

function take(fresh: State): void {
  state = fresh;
  stateAt = performance.now();
  for (const arm of fresh.arms) {
    let card = arms.get(arm.name);
    if (!card) {
      card = new ArmCard(arm.name, (on) => void act(`${arm.name} torque ${on ? 'on' : 'off'}`, `torque/${arm.name}`, { on }));
      arms.set(arm.name, card);
      byId('arms').append(card.element);
    }
    card.update(arm, fresh.session.provider);
  }
  views.update(fresh.cameras);
  session.update(fresh);
  recorder.update(fresh);
  figures.update(fresh);
  nodes.update(fresh.nodes);
  devices.update(fresh.devices);
  show();
}

const pair = byId<HTMLDialogElement>('pair');
const link = new Link({
  role: 'viewer',
  name: 'cockpit',
  onMessage: (message) => {
    if (message.type === 'state') take(message);
    else if (message.type === 'event') events.add(message);
  },
  onState: (now, reason) => {
    if (now === 'refused') {
      text(byId('why'), reason);
      if (!pair.open) pair.showModal();
    }
    show();
  },
});
pair.onclose = () => {
  sessionStorage.setItem('code', byId<HTMLInputElement>('code').value.trim());
  // the camera sockets carry the code in their address: start afresh with the new one
  location.reload();
};
setInterval(show, 250);
link.connect();
