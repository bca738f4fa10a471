import { expect, test } from 'vitest';
import { absentHand, pressedKey, readHands } from '../src/vr/input';

const button = (value = 0): GamepadButton => ({ value, pressed: value > 0.5, touched: false });
const pad = (buttons: number): Gamepad => ({ buttons: Array.from({ length: buttons }, (_, i) => button(i === 1 ? 0.8 : 0)), axes: [0, 0, 0.5, -2] }) as unknown as Gamepad;
const source = (handedness: string, extra: object = {}): XRInputSource => ({ handedness, gripSpace: {}, targetRaySpace: {}, gamepad: pad(12), ...extra }) as unknown as XRInputSource;
const session = (inputSources: XRInputSource[], visibilityState = 'visible'): XRSession => ({ inputSources, visibilityState }) as unknown as XRSession;
const frame = (getPose: () => unknown): XRFrame => ({ getPose }) as unknown as XRFrame;
const good = frame(() => ({ transform: { position: { x: 1, y: 2, z: 3 }, orientation: { x: 0, y: 0, z: 0, w: 1 } }, emulatedPosition: false }));
const space = {} as XRReferenceSpace;

test('sources are told apart by handedness, whatever their order', () => {
  const hands = readHands(good, session([source('right'), source('left')]), space);
  expect(hands.left).toMatchObject({ connected: true, tracked: true, squeeze: 0.8, position: [1, 2, 3], thumbstick: [0.5, -1] });
  expect(hands.right.connected).toBe(true);
});

test('a bare hand never drives, even with a gamepad for its pinch', () => {
  const hands = readHands(good, session([source('left', { hand: {}, gamepad: pad(1) }), source('right', { gamepad: pad(1) })]), space);
  expect(hands.left.connected).toBe(false);
  expect(hands.right.connected).toBe(false);
});

test.each([
  ['null', () => null],
  ['a throw', () => { throw new Error('hidden'); }],
])('a pose that is %s is untracked, the buttons still count', (_name, getPose) => {
  const { right } = readHands(frame(getPose), session([source('right')]), space);
  expect(right).toMatchObject({ connected: true, tracked: false, position: null, squeeze: 0.8 });
});

test('the system menu is a gap', () => {
  expect(readHands(good, session([source('right')], 'visible-blurred'), space).right.connected).toBe(false);
});

test('what must arrive is told by presses, releases and an opening grip, and by nothing else', () => {
  const key = (change: object): string => pressedKey({ left: absentHand(), right: { ...absentHand(), connected: true, squeeze: 0.84, ...change } });
  const { buttons } = absentHand();
  expect(key({ squeeze: 0.86, trigger: 1, tracked: true, position: [1, 2, 3], thumbstick: [1, 0] })).toBe(key({}));
  const others = [{ squeeze: 0 }, { squeeze: 0.35 }, { connected: false }, { buttons: { ...buttons, secondary: true } }, { buttons: { ...buttons, menu: true } }].map(key);
  expect(new Set([key({}), ...others]).size).toBe(others.length + 1);
});
