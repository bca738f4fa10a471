/** How a provider or a device is, in words for people: what, since when, why, what to do. Pure. */
import type { DeviceRow, ProviderRow } from './protocol';
import type { Tone } from './words';

const PROVIDER: Record<string, [string, Tone]> = {
  initializing: ['starting', 'busy'],
  available: ['running', 'good'],
  failed: ['failed', 'bad'],
  stopped: ['ended', 'idle'],
};

const DEVICE: Record<string, [string, Tone]> = {
  initializing: ['starting', 'busy'],
  unknown: ['unknown', 'busy'],
  connected: ['connected', 'good'],
  disconnected: ['not connected', 'busy'],
  degraded: ['works in part', 'busy'],
  failed: ['failed', 'bad'],
  unavailable: ['not available', 'idle'],
  disabled: ['switched off', 'idle'],
};

/** Causes in words, where no text says more. */
const REASONS: Record<string, string> = {
  none: '',
  provider_initializing: '',
  provider_failed: 'its provider failed',
  provider_stopped: 'its provider has ended',
  no_report: 'nothing was reported yet',
  stale_report: 'its reports have stopped',
  malformed_report: 'its report is wrong',
  unsupported_schema_version: 'its report has another format',
  reported: '',
  disabled_by_configuration: 'left out by its arguments',
  process_exited: 'its process ended',
  process_signaled: 'its process was ended',
  process_observation_error: 'its process cannot be watched',
  startup_failed: 'it could not be started',
  runtime_update_failed: 'the runtime gives no data',
  openxr_session_ready: '',
  external_openxr_health_unknown: 'another program owns the session',
  openxr_form_factor_unavailable: 'the runtime has no headset',
  openxr_session_lost: 'the session was lost',
  openxr_instance_lost: 'the runtime was lost',
  openxr_poll_error: 'the runtime does not answer',
};

export interface Line {
  name: string;
  state: string;
  tone: Tone;
  since: string;
  /** why and what to do; empty when all is well */
  note: string;
}

/** Return a time that lasts, in the largest whole unit. */
export function lasting(seconds: number): string {
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return `${Math.floor(seconds / 3600)} h`;
}

function line(row: ProviderRow | DeviceRow, name: string, words: Record<string, [string, Tone]>): Line {
  const [state, tone] = words[row.state] ?? [row.state, 'busy'];
  // what befell its provider stands in the line above
  if (row.reason === 'provider_failed' || row.reason === 'provider_stopped') return { name, state, tone, since: lasting(row.since), note: '' };
  const why = row.error || (REASONS[row.reason] ?? row.reason);
  // a text beside a state that is well is a remark, not a fault
  const quiet = tone === 'good' && !row.remedy;
  return { name, state, tone: tone === 'good' && row.remedy ? 'busy' : tone, since: lasting(row.since), note: quiet ? row.error : [why, row.remedy].filter(Boolean).join('; ') };
}

export const providerLine = (row: ProviderRow): Line => line(row, row.name || row.id, PROVIDER);

/** Return the line of a device, named by what it is below its provider. */
export function deviceLine(row: DeviceRow, provider: ProviderRow): Line {
  const short = row.id.startsWith(`${provider.id}/`) ? row.id.slice(provider.id.length + 1) : row.id.replace(/^(camera|openxr|arm)\//, '');
  return line(row, row.description || short.replaceAll('_', ' ').replaceAll('/', ' '), DEVICE);
}

/** Return whether something at a provider or below it should be looked at. */
export function troubled(row: ProviderRow): boolean {
  const bad = (found: Line): boolean => found.tone === 'bad' || found.tone === 'busy';
  return bad(providerLine(row)) || row.devices.some((device) => bad(deviceLine(device, row)));
}
