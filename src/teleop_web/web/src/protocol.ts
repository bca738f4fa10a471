/** The messages of the gateway, as docs/webxr_protocol.md describes them. */

export interface Joint {
  name: string;
  lower: number;
  upper: number;
  measured: number | null;
  committed: number | null;
  requested: number | null;
  reason: string;
}

export interface Arm {
  name: string;
  authority: string;
  hand: string;
  owner: string;
  must_open: boolean;
  countdown: number | null;
  engage: number;
  reason: string;
  counters: number[];
  joints: Joint[];
  /** as last said; `heard` is false once it has fallen silent */
  driver: {
    heard: boolean;
    torque_on: boolean;
    estop: boolean;
    error: string;
    write_hz: number | null;
    read_hz: number | null;
    temperature: (number | null)[];
    voltage: (number | null)[];
  } | null;
  /** what executes the commands, as last known: none before a driver is heard, unknown while it has just started */
  sink: 'simulation' | 'hardware' | 'unknown' | 'none';
}

export interface NodeRow {
  name: string;
  state: 'ok' | 'gone' | 'waiting';
  age: number | null;
  limit: number;
  does: string;
  remedy: string;
  error: string;
}

/** One device as device_status concludes, see docs/device_status.md. */
export interface DeviceRow {
  id: string;
  type: string;
  description: string;
  state: string;
  reason: string;
  error: string;
  /** seconds since state or reason last changed */
  since: number;
  remedy: string;
}

export interface ProviderRow {
  id: string;
  type: string;
  name: string;
  state: string;
  reason: string;
  error: string;
  pid: number;
  since: number;
  remedy: string;
  devices: DeviceRow[];
}

export interface Guard {
  enabled: boolean;
  /** what the collision filter measures now: pieces, hulls, capsules, or none */
  geometry: string;
  /** what it was told to measure; empty while not known */
  geometry_asked: string;
  holding: boolean;
  clearance_committed: number | null;
  clearance_measured: number | null;
  scale: number | null;
  pairs: { links: string[]; distance: number | null; blocking: boolean }[];
}

export interface Recorder {
  recording: boolean;
  session_path: string;
  episode: number;
  frames: number;
  missed: number;
  task: string;
  error: string;
  notice: string;
}

export interface OperatorPlace {
  key: number | null;
  name: string;
  connection: number;
}

/** What one button's event does, see config/bindings.yaml. */
export interface Binding {
  hand: string;
  button: string;
  event: string;
  action: string;
  seconds: number;
}

export interface State {
  type: 'state';
  unix_ms: number;
  session: {
    state: string;
    provider: string;
    profile: string;
    epoch: number;
    stance: string;
    view: string;
    yaw: number | null;
    scale: number | null;
    pairing: Record<string, string>;
    error: string;
    bindings: Binding[];
  };
  estop: { latched: boolean; source: string; latched_drivers: string[]; age: number | null };
  guard: Guard | null;
  /** null while no recorder runs */
  recorder: Recorder | null;
  arms: Arm[];
  rates: Record<string, number>;
  latency_ms: { p50: number | null; p95: number | null };
  real_time_factor: number | null;
  nodes: NodeRow[];
  devices: ProviderRow[] | null;
  cameras: string[];
  operator: OperatorPlace & { take_overs: number };
  clients: { key: number; name: string; address: string }[];
  link: { hz: number; gap_p95: number | null; gap_max: number | null; delay_max: number | null; age: number | null; round_trip: number | null };
  counts: Record<string, number>;
}

export interface GraphEvent {
  type: 'event';
  kind: string;
  arm: string;
  text: string;
  unix_ms: number;
}

/** How a command ended. */
export interface Result {
  success: boolean;
  message: string;
}

export interface HapticMessage {
  type: 'haptic';
  id: number;
  hand: string;
  intensity: number;
  ms: number;
}

export type ServerMessage =
  | State
  | GraphEvent
  | HapticMessage
  | { type: 'welcome'; key: number; client: string; operator: OperatorPlace }
  | { type: 'operator'; operator: OperatorPlace }
  | { type: 'lost_control'; reason: string }
  | { type: 'refused'; kind: string; reason: string; count?: number }
  | { type: 'pong'; t: number | null }
  | { type: 'estop'; success: boolean; message: string };
