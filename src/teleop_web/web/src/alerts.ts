/** What is wrong, since when, what to do: the one place where the state is judged for people. Pure. */
import type { Arm, State } from './protocol';

export interface Alert {
  level: 'stop' | 'warn' | 'info';
  what: string;
  /** seconds it lasts, when known */
  since: number | null;
  remedy: string;
}

/** The gateway's limit, see docs/webxr_protocol.md. */
const LATE_S = 0.2;

/** Return everything that the operator should know, the worst first. */
export function alerts(state: State): Alert[] {
  const found: Alert[] = [];
  if (state.estop.latched) {
    found.push({ level: 'stop', what: `E-STOP latched${state.estop.source ? ` by ${state.estop.source}` : ''}`, since: null, remedy: 'make it safe, then reset the e-stop' });
  }
  for (const node of state.nodes) {
    if (node.state === 'gone') found.push({ level: 'stop', what: `${node.name} is gone`, since: node.age, remedy: `${node.does}; ${node.remedy}` });
    else if (node.error) found.push({ level: 'warn', what: `${node.name}: ${node.error}`, since: null, remedy: 'look at the node list' });
    else if (node.state === 'waiting') found.push({ level: 'warn', what: `${node.name} not heard yet`, since: null, remedy: `${node.does}; ${node.remedy}` });
  }
  if (state.session.error) found.push({ level: 'warn', what: `session: ${state.session.error}`, since: null, remedy: 'mend the cause, then Connect and Start' });
  for (const arm of state.arms) {
    if (arm.driver?.error) found.push({ level: 'stop', what: `${arm.name} driver: ${arm.driver.error}`, since: null, remedy: 'mend the driver, then reset the e-stop' });
    if (arm.authority === 'fault') found.push({ level: 'stop', what: `${arm.name} arm FAULT: ${arm.reason}`, since: null, remedy: 'free the arm, open the grip' });
    if (arm.driver && !arm.driver.torque_on) found.push({ level: 'warn', what: `${arm.name} torque is off`, since: null, remedy: 'turn torque on' });
  }
  if (state.guard && !state.guard.enabled) found.push({ level: 'warn', what: 'collision guard is OFF', since: null, remedy: 'restart the guard with it enabled' });
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

export function clearance(state: State): string {
  const value = state.guard?.clearance_committed;
  return value === null || value === undefined ? '' : `${Math.round(value * 1000)} mm`;
}

/** Say in a few words what an arm does and what the operator can do about it. */
export function armText(arm: Arm): { text: string; tone: 'good' | 'busy' | 'idle' | 'bad' } {
  const why = arm.reason && arm.reason !== 'ready' ? ` (${arm.reason})` : '';
  switch (arm.authority) {
    case 'driving':
      return { text: 'DRIVING', tone: 'good' };
    case 'countdown':
      return { text: `hold still ${(arm.countdown ?? 0).toFixed(1)} s`, tone: 'busy' };
    case 'grace':
      return { text: `tracking lost, holding${why}`, tone: 'busy' };
    case 'homing':
      return { text: 'going home; squeeze to take it', tone: 'busy' };
    case 'replay':
    case 'external':
      return { text: `driven by ${arm.owner || arm.authority}; it must release the arm`, tone: 'busy' };
    case 'estop':
      return { text: 'E-STOP', tone: 'bad' };
    case 'fault':
      return { text: `FAULT${why}`, tone: 'bad' };
    case 'idle':
      if (arm.reason === 'frames stopped') return { text: 'no frames from the operator; enter the session in the headset', tone: 'busy' };
      return arm.must_open ? { text: `open the grip first${why}`, tone: 'busy' } : { text: `squeeze ${arm.hand || 'the'} grip to drive${why}`, tone: 'idle' };
    default:
      return { text: 'guard not heard', tone: 'bad' };
  }
}
