import { expect, test } from 'vitest';
import { PageButtons } from '../src/vr/buttons';
import { absentHand, type HandJson, type Side } from '../src/vr/input';
import { BINDINGS } from './state';

const hands = (left: boolean, right: boolean): Record<Side, HandJson> => {
  const both = { left: absentHand(), right: absentHand() };
  both.left.buttons.stick = left;
  both.right.buttons.stick = right;
  return both;
};

/** Play samples of both sticks [ms, left, right] from released ones on, and return the actions. */
const play = (samples: [number, boolean, boolean][], bindings = BINDINGS): string[] => {
  const seen: string[] = [];
  const buttons = new PageButtons((action) => seen.push(action));
  buttons.update(-20, hands(false, false), bindings);
  for (const [ms, left, right] of samples) buttons.update(ms, hands(left, right), bindings);
  return seen;
};

test('a click bound to release acts on release, not on press', () => {
  expect(play([[0, true, false], [100, true, false]])).toEqual([]);
  expect(play([[0, true, false], [100, true, false], [200, false, false]])).toEqual(['view_next']);
});

test('a hold that belongs to the session never cycles the view', () => {
  expect(play([[0, true, false], [800, true, false], [900, false, false]])).toEqual([]);
});

test('a click bound to press acts once per press', () => {
  expect(play([[0, false, true], [20, false, true], [40, false, false], [60, false, true]])).toEqual(['tile_size', 'tile_size']);
});

test('other bindings move the actions to other buttons, and without any nothing happens', () => {
  const other = [{ hand: 'left', button: 'thumbstick_click', event: 'press', action: 'tile_size', seconds: 0 }];
  expect(play([[0, true, true]], other)).toEqual(['tile_size']);
  expect(play([[0, true, true], [20, false, false]], [])).toEqual([]);
});

test('a click across a gap is no click, nor is what was down before the first sample', () => {
  const seen: string[] = [];
  const buttons = new PageButtons((action) => seen.push(action));
  buttons.update(0, hands(true, true), BINDINGS);
  buttons.update(20, hands(false, false), BINDINGS);
  buttons.update(40, hands(true, false), BINDINGS);
  buttons.reset();
  buttons.update(100, hands(false, false), BINDINGS);
  expect(seen).toEqual([]);
});
