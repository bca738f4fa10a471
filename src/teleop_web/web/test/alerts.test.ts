import { expect, test } from 'vitest';
import { alerts } from '../src/alerts';
import { armText } from '../src/words';
import { arm, state } from './state';

const working = { heard: true, torque_on: true, estop: false, error: '', write_hz: 100, read_hz: 100, temperature: [], voltage: [] };

test('a healthy graph raises no alert', () => {
  expect(alerts(state())).toEqual([]);
});

test('a dead node is named with its age and what to do', () => {
  const node = { name: 'guard', state: 'gone' as const, age: 1.2, limit: 0.5, does: 'no command reaches the arms', remedy: 'it respawns', error: '' };
  const [alert] = alerts(state({ nodes: [node] }));
  expect(alert).toMatchObject({ level: 'stop', what: 'guard is gone', since: 1.2 });
  expect(alert?.remedy).toContain('no command reaches the arms');
});

test('who stopped is named only when it is known', () => {
  const estop = { latched: true, source: 'service', latched_drivers: [], age: 0 };
  expect(alerts(state({ estop }))[0]?.what).toBe('E-STOP latched');
  expect(alerts(state({ estop: { ...estop, source: 'driver of left' } }))[0]?.what).toBe('E-STOP latched by driver of left');
});

test('the worst comes first', () => {
  const found = alerts(state({ estop: { latched: true, source: 'operator', latched_drivers: [], age: 0 }, real_time_factor: 0.5 }));
  expect(found.map((a) => a.level)).toEqual(['stop', 'warn']);
});

test('a link in bursts is named although its rate is right', () => {
  const link = { hz: 66, gap_p95: 0.15, gap_max: 0.2, delay_max: 0.1, age: 0.01, round_trip: 0.1 };
  expect(alerts(state({ link }))[0]?.what).toContain('150 ms');
});

test('frames that wait too long on their way are named, and that they move nothing', () => {
  const link = { hz: 72, gap_p95: 0.014, gap_max: 0.02, delay_max: 0.31, age: 0.01, round_trip: 0.004 };
  expect(alerts(state({ link }))[0]?.what).toContain('310 ms late and move nothing');
});

test.each(['idle', 'countdown', 'driving', 'grace', 'homing', 'replay', 'external', 'estop', 'fault', 'unknown'])('authority %s has words', (authority) => {
  expect(armText(arm({ authority, reason: 'why' }), 'webxr').text).not.toBe('');
});

test('an arm that waits for an open grip says so', () => {
  expect(armText(arm({ must_open: true }), 'webxr').text).toContain('open the grip');
});

test('an error of a driver asks for a reset of the e-stop only where that is latched', () => {
  const remedy = (change: object): string => alerts(state({ arms: [arm({ driver: { ...working, error: 'no servo answers', ...change } })] })).find((a) => a.what.includes('no servo'))?.remedy ?? '';
  expect(remedy({ estop: false })).toContain('until the error is gone and the grip has opened');
  expect(remedy({ estop: false })).not.toContain('e-stop');
  expect(remedy({ estop: true })).toContain('reset the e-stop');
});

test('what a silent driver said last raises no alert', () => {
  expect(alerts(state({ arms: [arm({ driver: { ...working, heard: false, error: 'old', torque_on: false } })] }))).toEqual([]);
});

test('a guard that measures hulls for want of pieces says so, and one that was told to does not', () => {
  const guard = (geometry: string, geometry_asked: string) => ({ ...state().guard!, geometry, geometry_asked });
  expect(alerts(state({ guard: guard('hulls', 'pieces') }))).toMatchObject([{ level: 'info', what: 'collision guard measures hulls, not pieces' }]);
  for (const told of [guard('hulls', 'hulls'), guard('capsules', 'capsules'), guard('hulls', '')]) expect(alerts(state({ guard: told }))).toEqual([]);
});

test('a node that says what to do is shown with that, and a failed cutting is told once', () => {
  const error = "cutting the links into pieces: cache '/x': got 'Permission denied', allowed a folder that can be written; free space; hulls meanwhile";
  const nodes = state().nodes.map((node) => ({ ...node, error }));
  const found = alerts(state({ nodes, guard: { ...state().guard!, geometry: 'hulls' } }));
  expect(found).toMatchObject([{ level: 'warn', remedy: 'free space; hulls meanwhile' }]);
  expect(found[0]?.what).toContain("guard: cutting the links into pieces: cache '/x'");
});
