import { expect, test } from 'vitest';
import { alerts } from '../src/alerts';
import { deviceLine, lasting, providerLine, troubled } from '../src/devices';
import type { DeviceRow, ProviderRow } from '../src/protocol';
import { state } from './state';

const device = (change: Partial<DeviceRow> = {}): DeviceRow => ({ id: 'arm/left', type: 'arm', description: '', state: 'connected', reason: 'reported', error: '', since: 4.2, remedy: '', ...change });
const provider = (change: Partial<ProviderRow> = {}): ProviderRow => ({
  id: 'sim', type: 'node', name: 'simulation', state: 'available', reason: 'reported', error: '', pid: 7, since: 75, remedy: '', devices: [device()], ...change,
});

test('what is well says so in one word and is no trouble', () => {
  expect(providerLine(provider())).toEqual({ name: 'simulation', state: 'running', tone: 'good', since: '1 min', note: '' });
  expect(deviceLine(device(), provider())).toMatchObject({ name: 'left', state: 'connected', since: '4 s' });
  expect(troubled(provider())).toBe(false);
});

test('what is wrong says what, since when, why and what to do', () => {
  const killed = provider({ state: 'failed', reason: 'process_signaled', error: 'process 7 was ended by signal 9', remedy: 'wait' });
  expect(providerLine(killed)).toMatchObject({ state: 'failed', tone: 'bad', note: 'process 7 was ended by signal 9; wait' });
  const gone = device({ state: 'unavailable', reason: 'provider_failed', since: 7300 });
  expect(deviceLine(gone, killed)).toMatchObject({ tone: 'idle', since: '2 h', note: '' });
  expect(troubled(killed)).toBe(true);
});

test('one bad device troubles its provider, one that was switched off does not', () => {
  expect(troubled(provider({ devices: [device(), device({ state: 'degraded', error: 'slow', remedy: 'see' })] }))).toBe(true);
  expect(troubled(provider({ devices: [device({ state: 'disabled', reason: 'disabled_by_configuration' })] }))).toBe(false);
});

test('a running provider that hangs does not look well', () => {
  const hung = provider({ reason: 'stale_report', error: 'process 7 runs but is silent', remedy: 'restart it' });
  expect(providerLine(hung)).toMatchObject({ state: 'running', tone: 'busy' });
  expect(providerLine(hung).note).toBe('process 7 runs but is silent; restart it');
});

test('devices are named below their provider, or by their description', () => {
  const page = provider({ id: 'webxr/quest_3' });
  expect(deviceLine(device({ id: 'webxr/quest_3/left_controller' }), page).name).toBe('left controller');
  expect(deviceLine(device({ id: 'arm/left/elbow_flex', description: 'elbow flex' }), provider({ id: 'hw/left' })).name).toBe('elbow flex');
  expect(deviceLine(device({ id: 'camera/overhead' }), provider({ id: 'camera/overhead' })).name).toBe('overhead');
});

test('times grow coarser', () => {
  expect([0.4, 59, 61, 3599, 3601, 90000].map(lasting)).toEqual(['0 s', '59 s', '1 min', '59 min', '1 h', '25 h']);
});

test('a cause without a text has words', () => {
  expect(providerLine(provider({ reason: 'no_report', remedy: 'wait' })).note).toBe('nothing was reported yet; wait');
});

test('a plugin that failed is told on top, a node is told by its silence', () => {
  const failed = { state: 'failed', reason: 'process_exited', error: 'process 7 exited with status 1', remedy: 'start it again' };
  const shown = alerts(state({ devices: [provider({ type: 'plugin', name: 'foot pedal', ...failed }), provider(failed)] }));
  expect(shown).toEqual([{ level: 'warn', what: 'foot pedal failed: process 7 exited with status 1', since: 75, remedy: 'start it again' }]);
});
