/** The page's own bindings: left stick click chooses the view, right stick click the tile size. Pure. */

/** Longer is a hold, which belongs to the session (home). */
export const HOLD_MS = 800;

export class StickClicks {
  private leftSince: number | null = null;
  private rightDown = false;

  constructor(private readonly onNextView: () => void, private readonly onTileSize: () => void) {}

  /** Take one sample; the view changes on release of a short click, so that a hold never cycles it. */
  update(nowMs: number, left: boolean, right: boolean): void {
    if (left && this.leftSince === null) this.leftSince = nowMs;
    if (!left && this.leftSince !== null) {
      if (nowMs - this.leftSince < HOLD_MS) this.onNextView();
      this.leftSince = null;
    }
    if (right && !this.rightDown) this.onTileSize();
    this.rightDown = right;
  }

  /** Forget what is pressed: a click across a gap is no click. */
  reset(): void {
    this.leftSince = null;
    this.rightDown = false;
  }
}
