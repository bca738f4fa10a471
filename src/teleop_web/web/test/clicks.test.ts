import { expect, test } from 'vitest';
import { HOLD_MS, StickClicks } from '../src/vr/clicks';

const record = (): { clicks: StickClicks; seen: string[] } => {
  const seen: string[] = [];
  return { clicks: new StickClicks(() => seen.push('view'), () => seen.push('tile')), seen };
};

test('left click changes the view on release, not on press', () => {
  const { clicks, seen } = record();
  clicks.update(0, true, false);
  clicks.update(100, true, false);
  expect(seen).toEqual([]);
  clicks.update(200, false, false);
  expect(seen).toEqual(['view']);
});

test('left hold never cycles the view', () => {
  const { clicks, seen } = record();
  clicks.update(0, true, false);
  clicks.update(HOLD_MS, false, false);
  expect(seen).toEqual([]);
});

test('right click changes the tile once per press', () => {
  const { clicks, seen } = record();
  for (const [t, right] of [[0, true], [20, true], [40, false], [60, true]] as const) clicks.update(t, false, right);
  expect(seen).toEqual(['tile', 'tile']);
});

test('a click across a gap is no click', () => {
  const { clicks, seen } = record();
  clicks.update(0, true, false);
  clicks.reset();
  clicks.update(100, false, false);
  expect(seen).toEqual([]);
});
