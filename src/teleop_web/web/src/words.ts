/** What the graph says, in words for people: who drives, why an arm or a joint does not, which button does what. Pure. */
import type { Arm, Binding, GraphEvent, Recorder, State } from './protocol';

/** How well something is; the pages colour it. */
export type Tone = 'good' | 'busy' | 'idle' | 'bad';

const INPUTS: Record<string, string> = { webxr: 'headset', openxr: 'OpenXR headset', debug: 'scripted operator', replay: 'recording', external: 'external input' };

/** Return whether the hands come from a page's headset. */
export const fromPage = (state: State): boolean => state.session.provider === 'webxr';

/** Return who drives; empty while nobody does. */
export function driver(state: State): string {
  return fromPage(state) ? state.operator.name : (INPUTS[state.session.provider] ?? state.session.provider);
}

/** Why an idle arm cannot be driven now, by the guard's reason. `hand` stands for the arm's hand. */
const ARM_REASONS: Record<string, string> = {
  'session not running': 'the session is not running; press Connect and Start',
  'session silent': 'nothing is heard of the session',
  'driver silent': 'nothing is heard of its driver',
  'joint states stale': 'its driver sends no joint angles',
  'reference unknown': 'its driver has sent no joint angles yet',
  'torque is off': 'torque is off; turn it on',
  'targets stopped': 'no joint targets come; look at the retargeter',
  'head not tracked, so no heading': 'the headset does not know where it looks; look around',
  'no hand paired': 'no hand drives this arm; choose another stance',
  'controller gone': 'pick up the hand controller',
  'hand not tracked': 'the headset does not see the hand controller; bring it into view',
};

const STOPPED: Record<string, string> = {
  webxr: 'no frames from the headset; enter the session there',
  replay: 'the recording has ended; Play again starts it anew',
  debug: 'the scripted operator sends nothing; look at its lines in the terminal',
  external: 'nobody publishes on /teleop/input/external/frame',
};

const SINKS: Record<Arm['sink'], [string, Tone]> = { simulation: ['SIMULATION', 'idle'], hardware: ['REAL ARM', 'bad'], unknown: ['not known yet', 'busy'], none: ['no driver', 'busy'] };

/** Say what executes an arm's commands, and whether that is heard. */
export function sinkText(arm: Pick<Arm, 'sink' | 'driver'>): { text: string; tone: Tone } {
  const [text, tone] = SINKS[arm.sink];
  return arm.driver && !arm.driver.heard ? { text: `${text}, not heard`, tone: 'bad' } : { text, tone };
}

/** Say what executes the commands of all arms: one real arm makes them real. */
export function sinksText(arms: Pick<Arm, 'sink' | 'driver'>[]): { text: string; tone: Tone } {
  const worst = (['hardware', 'unknown', 'simulation'] as const).map((sink) => arms.filter((arm) => arm.sink === sink)).find((found) => found.length);
  if (!worst?.[0]) return { text: 'no arms', tone: 'busy' };
  const silent = worst.find((arm) => arm.driver && !arm.driver.heard);
  const { text, tone } = sinkText(silent ?? worst[0]);
  return { text: text.replace('REAL ARM', 'REAL ARMS'), tone };
}

/** Say in a few words what an arm does and what the operator can do about it. */
export function armText(arm: Arm, provider: string): { text: string; tone: Tone } {
  switch (arm.authority) {
    case 'driving':
      return { text: 'DRIVING', tone: 'good' };
    case 'countdown':
      return { text: `hold still ${(arm.countdown ?? 0).toFixed(1)} s`, tone: 'busy' };
    case 'grace':
      return { text: 'hand out of sight: the arm holds; bring it back into view', tone: 'busy' };
    case 'homing':
      return { text: 'going home; squeeze to take it', tone: 'busy' };
    case 'replay':
    case 'external':
      return { text: `driven by ${arm.owner || arm.authority}; it must release the arm`, tone: 'busy' };
    case 'estop':
      return { text: 'E-STOP', tone: 'bad' };
    case 'fault':
      return { text: 'FAULT', tone: 'bad' };
    case 'idle':
      return idleText(arm, provider);
    default:
      return { text: 'guard not heard', tone: 'bad' };
  }
}

function idleText(arm: Arm, provider: string): { text: string; tone: 'busy' | 'idle' } {
  const { reason } = arm;
  if (reason === 'frames stopped') return { text: STOPPED[provider] ?? `no frames from the ${INPUTS[provider] ?? 'operator'}`, tone: 'busy' };
  if (ARM_REASONS[reason]) return { text: ARM_REASONS[reason].replace('hand controller', `${arm.hand} controller`), tone: 'busy' };
  const because = reason && reason !== 'ready' && reason !== 'open the grip first' ? ` (${reason})` : '';
  if (provider === 'webxr' || provider === 'openxr') {
    return arm.must_open ? { text: `open the grip first${because}`, tone: 'busy' } : { text: `squeeze ${arm.hand || 'the'} grip to drive${because}`, tone: 'idle' };
  }
  // nobody who reads this can squeeze a grip
  return { text: `waits for the ${INPUTS[provider] ?? 'operator'} to ${arm.must_open ? 'open' : 'close'} its grip${because}`, tone: arm.must_open ? 'busy' : 'idle' };
}

/** Say what the recorder does, what is wrong first. */
export function recorderText(recorder: Recorder): { text: string; tone: Tone } {
  const { recording, episode, frames, missed, error, notice } = recorder;
  if (error) return { text: `NOT RECORDING: ${error}`, tone: 'bad' };
  if (recording) {
    const wrong = [missed ? `${missed} messages missed` : '', notice].filter(Boolean).join('; ');
    return { text: `● REC episode ${episode}, ${frames} rows${wrong ? `; ${wrong}` : ''}`, tone: wrong ? 'busy' : 'good' };
  }
  if (!recorder.session_path) return { text: 'no recording session is open', tone: 'idle' };
  return { text: notice ? `episode ${episode}: ${notice}` : 'ready to record', tone: 'idle' };
}

/** What limits a joint: a short word for the table, and what it means. */
export const JOINT_REASONS: Record<string, [string, string]> = {
  none: ['', ''],
  position_limit: ['joint limit', 'the joint is at the end of its range, or the arm would fold against itself'],
  speed_limit: ['full speed', 'the hand moves faster than the joint may'],
  acceleration_limit: ['acceleration', 'the hand changes speed faster than the joint may'],
  floor: ['bench', 'the hand is as low as it may be; the arm slides along the bench'],
  collision: ['collision', 'the arms or an obstacle are in the way; move the hand back'],
  stale: ['no fresh input', 'frames, joint angles or the driver have fallen silent: the arm holds'],
  dead_man: ['grip open', 'no grip is closed: the arm holds'],
  estop: ['e-stop', 'the e-stop is latched; reset it'],
  first_command: ['not moved yet', 'nothing has been commanded since the start'],
  homing: ['going home', 'the arm is on its way home'],
  replay: ['replayed', 'a recording has the arm'],
  leash: ['arm lags', 'the arm cannot follow: the command waits for it'],
  fault: ['fault', 'the arm reports a fault; see the warning above'],
  take_over: ['wait: trigger', 'move the trigger to where the gripper is: from there the gripper follows it'],
  untracked: ['out of sight', 'the headset does not see the hand'],
  countdown: ['countdown', 'hold still until the countdown is over'],
  no_target: ['no target', 'no joint target has come'],
};

const STICK: Record<string, string> = { 'left/primary': 'X', 'left/secondary': 'Y', 'right/primary': 'A', 'right/secondary': 'B' };
const ACTIONS: Record<string, string> = { record_toggle: 'record', home: 'arms home', view_next: 'next view', tile_size: 'tile size' };

function buttonText(binding: Binding): string {
  const name = STICK[`${binding.hand}/${binding.button}`] ?? `${binding.hand} ${binding.button === 'thumbstick_click' ? 'stick' : binding.button}`;
  return binding.event === 'hold' ? `hold ${name} ${binding.seconds} s` : name;
}

/** Return which buttons do `action`, e.g. `Y or B`; empty when none does. */
export function buttonsFor(bindings: Binding[], action: string): string {
  return bindings.filter((b) => b.action === action).map(buttonText).join(' or ');
}

/** Return how to stop the arms from inside the headset. */
export function estopText(state: State): string {
  const buttons = fromPage(state) ? buttonsFor(state.session.bindings, 'estop') : '';
  return `E-STOP: ${buttons || 'on the cockpit only'}`;
}

/** Return what every bound button does, the e-stop first even where no button stops. */
export function buttonTexts(state: State): string {
  const others = fromPage(state) ? Object.entries(ACTIONS) : [];
  const bound = others.map(([action, words]) => [words, buttonsFor(state.session.bindings, action)]).filter(([, by]) => by);
  return [estopText(state), ...bound.map(([words, by]) => `${words}: ${by}`)].join('.  ');
}

/** Return a node's name for people; providers are listed by what they provide. */
export const nodeName = (name: string): string => (INPUTS[name] ? `input ${name}` : name.replaceAll('_', ' ').replaceAll('/', ' '));

const ENTERED: Record<string, string> = {
  IDLE: 'holds',
  COUNTDOWN: 'countdown',
  DRIVING: 'driving',
  GRACE: 'hand out of sight, holds',
  HOMING: 'goes home',
  REPLAY: 'handed to the replay',
  EXTERNAL: 'handed over',
  ESTOP: 'e-stop',
  FAULT: 'fault',
};

/** Return an event of the guard in words: an arm that changed hands says what it does now, and why. */
export function eventText(event: GraphEvent): string {
  const where = event.arm ? `${event.arm} arm: ` : '';
  const [, state, why] = (event.kind === 'authority' && /^[A-Z]+ to ([A-Z]+): (.*)$/.exec(event.text)) || [];
  if (event.text === 'anchors void; grips must open') return 'every grip must open before it drives again';
  if (state === undefined) return `${where || (event.kind === 'estop' ? 'e-stop: ' : '')}${event.text || event.kind}`;
  return `${where}${ENTERED[state] ?? state.toLowerCase()} (${ARM_REASONS[why ?? '']?.replace('hand controller', 'controller') ?? why})`;
}
