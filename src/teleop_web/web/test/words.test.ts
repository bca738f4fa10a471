import { expect, test } from 'vitest';
import { alerts } from '../src/alerts';
import { panelLines } from '../src/vr/panel';
import { armText, buttonTexts, driver, estopText, eventText, JOINT_REASONS, recorderText, sinksText, sinkText } from '../src/words';
import { arm, state } from './state';

const session = (change: object) => ({ ...state().session, ...change });

test.each([['debug', 'scripted operator'], ['replay', 'recording'], ['external', 'external input'], ['webxr', 'Quest']])('with input %s the %s drives', (provider, who) => {
  expect(driver(state({ session: session({ provider }) }))).toBe(who);
});

test('without a headset nobody drives', () => {
  expect(driver(state({ operator: { key: null, name: '', connection: 1, take_overs: 0 } }))).toBe('');
});

test('the e-stop buttons are those of the bindings, and a missing one is said', () => {
  expect(estopText(state())).toBe('E-STOP: Y or B');
  const held = [{ hand: 'left', button: 'menu', event: 'hold', action: 'estop', seconds: 0.5 }];
  expect(estopText(state({ session: session({ bindings: held }) }))).toBe('E-STOP: hold left menu 0.5 s');
  expect(estopText(state({ session: session({ bindings: [] }) }))).toContain('cockpit');
});

test('while a script drives the headset says that it watches, and that its buttons stop nothing', () => {
  const lines = panelLines({ state: state({ session: session({ provider: 'debug' }) }), trouble: '', view: '', tile: 'M' }).map((l) => l.text).join('\n');
  expect(lines).toContain('scripted operator drives');
  expect(lines).toContain('E-STOP: on the cockpit only');
  expect(lines).not.toContain('squeeze');
});

test('every bound action is listed with its buttons, the e-stop first', () => {
  expect(buttonTexts(state())).toMatch(/^E-STOP: Y or B\. .*arms home: hold left stick 0.8 s/);
  expect(buttonTexts(state({ session: session({ provider: 'replay' }) }))).toBe('E-STOP: on the cockpit only');
});

test('a recording that has ended says how to play it again', () => {
  expect(armText(arm({ reason: 'frames stopped' }), 'replay').text).toContain('Play again');
  expect(armText(arm({ reason: 'frames stopped' }), 'webxr').text).toContain('headset');
});

test('no reason is said twice', () => {
  expect(armText(arm({ must_open: true, reason: 'open the grip first' }), 'webxr').text).toBe('open the grip first');
  const node = { name: 'retargeter', state: 'waiting' as const, age: null, limit: 2, does: 'hands do not become joint targets', remedy: 'wait', error: '' };
  const silent = state({ nodes: [node], session: session({ error: 'not started yet: nothing is heard of retargeter; wait' }) });
  expect(alerts(silent)).toHaveLength(1);
});

test('an error of the session is split into what and what to do', () => {
  const [alert] = alerts(state({ session: session({ error: 'nothing is heard of provider external; publish frames; then START' }) }));
  expect(alert).toMatchObject({ what: 'session: nothing is heard of provider external', remedy: 'publish frames; then START' });
});

test('no word of a joint is an enumeration name', () => {
  for (const [name, [short, meaning]] of Object.entries(JOINT_REASONS)) {
    expect(short).not.toContain('_');
    // the table's column holds no more
    expect(short.length).toBeLessThanOrEqual(14);
    if (name !== 'none') expect(meaning).not.toBe('');
  }
});

test('an event says what an arm does now, without names of states', () => {
  const event = { type: 'event' as const, kind: 'authority', arm: 'left', text: 'IDLE to COUNTDOWN: grip closed', unix_ms: 0 };
  expect(eventText(event)).toBe('left arm: countdown (grip closed)');
  expect(eventText({ ...event, text: 'DRIVING to IDLE: joint states stale' })).toBe('left arm: holds (its driver sends no joint angles)');
  expect(eventText({ ...event, kind: 'anchors', arm: '', text: 'anchors void; grips must open' })).not.toContain('anchor');
  expect(eventText({ ...event, kind: 'estop', arm: '', text: 'latched by cockpit' })).toBe('e-stop: latched by cockpit');
});

const recorder = (change: object) => ({ recording: false, session_path: '/takes/monday', episode: 3, frames: 0, missed: 0, task: '', error: '', notice: '', ...change });

test.each([
  [{}, 'ready to record', 'idle'],
  [{ session_path: '' }, 'no recording session is open', 'idle'],
  [{ recording: true, frames: 523 }, '● REC episode 3, 523 rows', 'good'],
  [{ recording: true, missed: 2, notice: 'the video encoder is too slow' }, '● REC episode 3, 0 rows; 2 messages missed; the video encoder is too slow', 'busy'],
  [{ notice: 'good, 12.0 s' }, 'episode 3: good, 12.0 s', 'idle'],
  [{ error: 'disk full' }, 'NOT RECORDING: disk full', 'bad'],
])('recorder %o reads as such', (change, words, tone) => {
  expect(recorderText(recorder(change))).toEqual({ text: words, tone });
});

test('the headset shows the recorder while there is one', () => {
  const shown = (change: object | null) => panelLines({ state: state({ recorder: change && recorder(change) }), trouble: '', view: '', tile: 'M' }).map((l) => l.text).join('\n');
  expect(shown({ recording: true })).toContain('REC episode 3');
  expect(shown({ notice: 'poor, 3.0 s: no arm was driven' })).toContain('no arm was driven');
  expect(shown(null)).not.toContain('record');
});

test('one real arm makes all of them real, and a silent one is said to be silent', () => {
  const silent = { ...arm().driver!, heard: false };
  const [simulated, real, dead] = [arm(), arm({ sink: 'hardware' }), arm({ driver: silent })];
  expect(sinkText(dead).text).toBe('SIMULATION, not heard');
  expect(sinkText(arm({ sink: 'hardware', driver: silent })).text).toBe('REAL ARM, not heard');
  expect(sinkText(arm({ sink: 'none', driver: null })).text).toBe('no driver');
  expect(sinksText([simulated, real]).text).toBe('REAL ARMS');
  expect(sinksText([simulated, dead])).toEqual({ text: 'SIMULATION, not heard', tone: 'bad' });
  expect(sinksText([simulated, arm({ sink: 'unknown' })]).text).toBe('not known yet');
  expect(sinksText([]).text).toBe('no arms');
});
