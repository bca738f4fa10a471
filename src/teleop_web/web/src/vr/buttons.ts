/** The page's own bindings (next view, tile size), as the bindings file of the graph has them. Pure. */
import type { Binding } from '../protocol';
import type { HandJson, Side } from './input';

const OURS = ['view_next', 'tile_size'];

interface Press {
  since: number;
  /** a hold has been reached, the session's or ours: its release means nothing any more */
  held: boolean;
}

export class PageButtons {
  private readonly pressed = new Map<string, Press | null>();

  /** @param act takes the name of each action that is due */
  constructor(private readonly act: (action: string) => void) {}

  /** Take one sample. What is down in the first sample was not pressed for us: it must be released first. */
  update(nowMs: number, hands: Record<Side, Pick<HandJson, 'buttons'>>, bindings: Binding[]): void {
    const rows = new Map<string, Binding[]>();
    for (const b of bindings) {
      if (OURS.includes(b.action) || b.event === 'hold') rows.set(`${b.hand}/${b.button}`, [...(rows.get(`${b.hand}/${b.button}`) ?? []), b]);
    }
    for (const [key, list] of rows) {
      const { hand, button } = list[0] as Binding;
      const buttons = hands[hand as Side].buttons;
      this.step(nowMs, key, list, button === 'thumbstick_click' ? buttons.stick : buttons[button as 'primary' | 'secondary' | 'menu']);
    }
  }

  /** Forget what is pressed: a click across a gap is no click. */
  reset(): void {
    this.pressed.clear();
  }

  private step(nowMs: number, key: string, list: Binding[], down: boolean): void {
    const due = (event: string): void => list.filter((b) => b.event === event && OURS.includes(b.action)).forEach((b) => this.act(b.action));
    const known = this.pressed.has(key);
    const press = this.pressed.get(key) ?? null;
    if (!down) {
      this.pressed.set(key, null);
      if (press && !press.held) due('release');
      return;
    }
    if (!known) return;
    if (!press) {
      this.pressed.set(key, { since: nowMs, held: false });
      return due('press');
    }
    if (!press.held && list.some((b) => b.event === 'hold' && nowMs - press.since >= b.seconds * 1000)) {
      press.held = true;
      due('hold');
    }
  }
}
