import type { Arm, Binding, State } from '../src/protocol';

export const arm = (change: Partial<Arm> = {}): Arm => ({
  name: 'right',
  authority: 'idle',
  hand: 'right',
  owner: '',
  must_open: false,
  countdown: 0,
  engage: 1,
  reason: '',
  counters: [],
  joints: [],
  driver: { heard: true, torque_on: true, estop: false, error: '', write_hz: 100, read_hz: 100, temperature: [], voltage: [] },
  sink: 'simulation',
  ...change,
});

const binding = (hand: string, button: string, event: string, action: string, seconds = 0): Binding => ({ hand, button, event, action, seconds });
export const BINDINGS: Binding[] = [
  binding('left', 'secondary', 'press', 'estop'),
  binding('right', 'secondary', 'press', 'estop'),
  binding('left', 'thumbstick_click', 'release', 'view_next'),
  binding('left', 'thumbstick_click', 'hold', 'home', 0.8),
  binding('right', 'thumbstick_click', 'press', 'tile_size'),
];

export const state = (change: Partial<State> = {}): State => ({
  type: 'state',
  unix_ms: 0,
  session: { state: 'running', provider: 'webxr', profile: '', epoch: 1, stance: 'behind', view: '', yaw: 0, scale: 1, pairing: {}, error: '', bindings: BINDINGS },
  estop: { latched: false, source: '', latched_drivers: [], age: 0.1 },
  guard: { enabled: true, geometry: 'pieces', geometry_asked: 'pieces', holding: false, clearance_committed: 0.1, clearance_measured: 0.1, scale: 1, pairs: [] },
  recorder: null,
  arms: [arm({ name: 'left', hand: 'left' }), arm()],
  rates: {},
  latency_ms: { p50: 1, p95: 2 },
  real_time_factor: 1,
  nodes: [{ name: 'guard', state: 'ok', age: 0.01, limit: 0.5, does: 'no command reaches the arms', remedy: '', error: '' }],
  devices: null,
  cameras: ['overshoulder'],
  operator: { key: 1, name: 'Quest', connection: 1, take_overs: 0 },
  clients: [],
  link: { hz: 72, gap_p95: 0.014, gap_max: 0.02, delay_max: 0.01, age: 0.01, round_trip: 0.004 },
  counts: {},
  ...change,
});
