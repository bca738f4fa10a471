/** The text panel: which lines, and a layout that never clips, whatever it has to say. */
import { ALERT_TONES, alerts, clearance } from '../alerts';
import type { State } from '../protocol';
import { armText, buttonsFor, driver, estopText, fromPage, recorderText, sinkText } from '../words';

export interface Line {
  text: string;
  colour: string;
  /** size relative to the body text */
  size: number;
  bold: boolean;
}

export const COLOURS = { good: '#56d364', busy: '#f2cc60', idle: '#adbac7', bad: '#ff7b72', text: '#e6edf3' } as const;

/** More than these at once nobody reads in a headset. */
const MAX_ALERTS = 2;

export interface PanelInput {
  state: State | null;
  /** what the page itself knows better than the state: no link, not the operator */
  trouble: string;
  view: string;
  tile: string;
}

/** Return the panel's lines, warnings first. */
export function panelLines({ state, trouble, view, tile }: PanelInput): Line[] {
  const lines: Line[] = [];
  const add = (text: string, colour: string, size = 1, bold = false): void => void lines.push({ text, colour, size, bold });
  if (trouble) add(trouble, COLOURS.bad, 1.3, true);
  if (!state) {
    if (!trouble) add('waiting for the gateway', COLOURS.busy);
    return lines;
  }
  const found = alerts(state);
  for (const alert of found.slice(0, MAX_ALERTS)) {
    const since = alert.since === null ? '' : ` for ${alert.since.toFixed(1)} s`;
    add(`${alert.what}${since}`, COLOURS[ALERT_TONES[alert.level]], 1.3, true);
    add(alert.remedy, COLOURS.text, 0.85);
  }
  if (found.length > MAX_ALERTS) add(`and ${found.length - MAX_ALERTS} more on the cockpit`, COLOURS.busy, 0.85);
  if (!fromPage(state) && state.session.provider) add(`the ${driver(state)} drives; this headset only watches`, COLOURS.busy, 1.15, true);
  for (const arm of state.arms) {
    const { text, tone } = armText(arm, state.session.provider);
    add(`${arm.name.toUpperCase()} [${sinkText(arm).text}]  ${text}`, COLOURS[tone], 1.15, true);
  }
  if (state.recorder) {
    const { text, tone } = recorderText(state.recorder);
    add(text, COLOURS[tone], state.recorder.recording ? 1.15 : 0.85, state.recorder.recording);
  }
  const gap = clearance(state);
  const session = state.session;
  add(`session ${session.state}   stance ${session.stance || '-'}   clearance ${gap || '-'}`, COLOURS.idle, 0.85);
  const by = (action: string): string => (buttonsFor(session.bindings, action) ? ` (${buttonsFor(session.bindings, action)})` : '');
  add(`view ${view || 'none'}${by('view_next')}   tile ${tile}${by('tile_size')}   ${estopText(state)}`, COLOURS.idle, 0.85);
  return lines;
}

export interface Placed extends Line {
  x: number;
  y: number;
  px: number;
}

/** Break a text at spaces so that each part fits; a word longer than the line is broken inside. */
export function wrap(text: string, width: number, measure: (text: string) => number): string[] {
  const parts: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line ? `${line} ${word}` : word;
    if (measure(longer) <= width) {
      line = longer;
      continue;
    }
    if (line) parts.push(line);
    line = word;
    while (measure(line) > width && line.length > 1) {
      let cut = line.length - 1;
      while (cut > 1 && measure(line.slice(0, cut)) > width) cut--;
      parts.push(line.slice(0, cut));
      line = line.slice(cut);
    }
  }
  parts.push(line);
  return parts;
}

/**
 * Lay lines out in a box, with the largest text that fits.
 *
 * @param measure width [px] of a text at a font size [px]
 */
export function layout(lines: Line[], width: number, height: number, measure: (text: string, px: number, bold: boolean) => number): Placed[] {
  const margin = 28;
  for (let body = 44; ; body -= 2) {
    const placed: Placed[] = [];
    let y = margin;
    for (const line of lines) {
      const px = body * line.size;
      for (const text of wrap(line.text, width - 2 * margin, (t) => measure(t, px, line.bold))) {
        y += px * 1.2;
        placed.push({ ...line, text, x: margin, y, px });
      }
    }
    if (y + margin * 0.5 <= height || body <= 12) return placed;
  }
}

/** Draw the panel on a 2D canvas. */
export function draw(context: CanvasRenderingContext2D, lines: Line[]): void {
  const { width, height } = context.canvas;
  const font = (px: number, bold: boolean): string => `${bold ? 700 : 500} ${px}px system-ui, sans-serif`;
  context.clearRect(0, 0, width, height);
  context.fillStyle = 'rgba(13, 17, 23, 0.92)';
  context.beginPath();
  context.roundRect(0, 0, width, height, 32);
  context.fill();
  const measure = (text: string, px: number, bold: boolean): number => {
    context.font = font(px, bold);
    return context.measureText(text).width;
  };
  for (const line of layout(lines, width, height, measure)) {
    context.font = font(line.px, line.bold);
    context.fillStyle = line.colour;
    context.fillText(line.text, line.x, line.y);
  }
}
