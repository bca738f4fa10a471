import { expect, test } from 'vitest';
import { layout, panelLines, wrap, type Line } from '../src/vr/panel';
import { state } from './state';

const measure = (text: string, px: number): number => text.length * px * 0.55;
const line = (text: string): Line => ({ text, colour: '', size: 1, bold: false });

test('nothing is ever clipped, however much there is to say', () => {
  const long = 'the left shoulder servo reports an overload and the arm holds until the joint is free '.repeat(3).trim();
  const placed = layout([line(long), line(long), line('W'.repeat(300)), line('last')], 1280, 720, measure);
  for (const item of placed) {
    expect(item.x + measure(item.text, item.px)).toBeLessThanOrEqual(1280);
    expect(item.y).toBeLessThanOrEqual(720);
  }
  expect(placed.at(-1)?.text).toBe('last');
});

test('wrapping keeps every word', () => {
  expect(wrap('one two three four', 60, (t) => measure(t, 10)).join(' ')).toBe('one two three four');
});

test('trouble of the page itself stands on top', () => {
  const lines = panelLines({ state: state(), trouble: 'NO LINK', view: 'overshoulder', tile: 'M' });
  expect(lines[0]?.text).toBe('NO LINK');
});

test('the stance, the sink and the e-stop buttons are visible inside the headset', () => {
  const text = panelLines({ state: state(), trouble: '', view: 'overshoulder', tile: 'M' }).map((l) => l.text).join('\n');
  for (const part of ['stance behind', '[SIMULATION]', 'E-STOP: Y or B', '100 mm']) expect(text).toContain(part);
});
