/** What is wrong, since when, what to do: the one place where the state is judged for people. Pure. */
import type { State } from './protocol';
import { nodeName, type Tone } from './words';

export interface Alert {
  level: 'stop' | 'warn' | 'info';
  what: string;
  /** seconds it lasts, when known */
  since: number | null;
  remedy: string;
}

/** How the pages colour an alert. */
export const ALERT_TONES: Record<Alert['level'], Tone> = { stop: 'bad', warn: 'busy', info: 'idle' };

/** The gateway's limit, see docs/webxr_protocol.md. */
const LATE_S = 0.2;

/** Return everything that the operator should know, the worst first. */
export function alerts(state: State): Alert[] {
  const found: Alert[] = [];
  if (state.estop.latched) {
    found.push({ level: 'stop', what: `E-STOP latched${latchedBy(state.estop.source)}`, since: null, remedy: "make it safe, then press 'reset e-stop' on the cockpit" });
  }
  for (const node of state.nodes) {
    if (node.state === 'gone') found.push({ level: 'stop', what: `${nodeName(node.name)} is gone`, since: node.age, remedy: `${node.does}; ${node.remedy}` });
    else if (node.error) found.push(complaint(nodeName(node.name), node.error, 'read its lines in the terminal'));
    else if (node.state === 'waiting') found.push({ level: 'warn', what: `${nodeName(node.name)} not heard yet`, since: null, remedy: `${node.does}; ${node.remedy}` });
  }
  for (const provider of state.devices ?? []) {
    if (provider.type === 'plugin' && provider.state === 'failed') found.push({ level: 'warn', what: `${provider.name} failed: ${provider.error}`, since: provider.since, remedy: provider.remedy });
  }
  // who is silent stands there already
  const silent = state.nodes.filter((node) => node.state !== 'ok').map((node) => node.name);
  const session = complaint('session', state.session.error, 'mend the cause, then Connect and Start');
  if (state.session.error && !silent.some((name) => session.what.includes(name))) found.push(session);
  for (const arm of state.arms) {
    // a driver that is silent is named among the nodes; what it said last is no news
    const driver = arm.driver?.heard ? arm.driver : null;
    if (driver?.error) found.push({ level: 'stop', what: `${arm.name} driver: ${driver.error}`, since: null, remedy: driver.estop ? 'mend the cause, then reset the e-stop' : 'mend the cause: the arm holds until the error is gone and the grip has opened' });
    if (arm.authority === 'fault') found.push({ level: 'stop', what: `${arm.name} arm FAULT: ${arm.reason}`, since: null, remedy: 'free the arm, open the grip' });
    if (driver && !driver.torque_on) found.push({ level: 'warn', what: `${arm.name} torque is off`, since: null, remedy: 'press its torque button on the cockpit' });
  }
  if (state.guard && !state.guard.enabled) found.push({ level: 'warn', what: 'collision guard is OFF', since: null, remedy: 'restart the guard with it enabled' });
  const { geometry, geometry_asked: asked } = state.guard ?? { geometry: '', geometry_asked: '' };
  // a guard that is silent, or says why it cannot, is named among the nodes
  const well = state.nodes.some((node) => node.name === 'guard' && node.state === 'ok' && !node.error);
  if (well && state.guard?.enabled && asked && geometry !== asked) {
    found.push({ level: 'info', what: `collision guard measures ${geometry}, not ${asked}`, since: null, remedy: 'the arms stop a little farther apart than they must; at the first start the finer shape is ready within some minutes' });
  }
  if (state.guard?.holding) found.push({ level: 'warn', what: `COLLISION HOLD ${clearance(state)}`, since: null, remedy: 'move the hand back' });
  const link = state.link;
  if (state.operator.key !== null && link.gap_p95 !== null && link.age !== null && link.age < 1 && link.gap_p95 > 0.06) {
    found.push({ level: 'warn', what: `headset link comes in bursts: gaps of ${Math.round(link.gap_p95 * 1000)} ms`, since: null, remedy: 'Wi-Fi power saving? Move closer to the router or use a USB cable' });
  }
  if (state.operator.key !== null && link.delay_max !== null && link.delay_max > LATE_S && link.age !== null && link.age < 1) {
    found.push({ level: 'warn', what: `headset frames come ${Math.round(link.delay_max * 1000)} ms late and move nothing`, since: null, remedy: 'the link is too slow for them: close other traffic, move closer to the router or use a USB cable' });
  }
  if (state.real_time_factor !== null && state.real_time_factor > 0 && state.real_time_factor < 0.9) {
    found.push({ level: 'warn', what: `simulation runs at ${state.real_time_factor.toFixed(2)} of real time`, since: null, remedy: 'close programs or cameras on that machine' });
  }
  const rank = { stop: 0, warn: 1, info: 2 };
  return found.sort((a, b) => rank[a.level] - rank[b.level]);
}

/** Return the alert of an error in the house form, `what is wrong; what to do`. */
function complaint(who: string, error: string, otherwise: string): Alert {
  const [what = '', ...remedies] = error.split('; ');
  return { level: 'warn', what: `${who}: ${what}`, since: null, remedy: remedies.join('; ') || otherwise };
}

/** Return who stopped; `service` is any button, page or program, which the guard cannot tell apart. */
const latchedBy = (source: string): string => (source && source !== 'service' ? ` by ${source}` : '');

export function clearance(state: State): string {
  const value = state.guard?.clearance_committed;
  return value === null || value === undefined ? '' : `${Math.round(value * 1000)} mm`;
}
