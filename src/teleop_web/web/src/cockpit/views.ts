/** Camera views: one large, or all of them. A view that nobody looks at is not even rendered. */
import { CameraFeed } from '../cameras';
import { button, h, text } from './dom';

class View {
  readonly element: HTMLElement;
  private readonly canvas = h('canvas', { width: '640', height: '480' });
  private readonly note = h('span', { class: 'note' });
  private readonly feed: CameraFeed;
  private times: number[] = [];
  private timer: number;

  constructor(readonly name: string) {
    const context = this.canvas.getContext('bitmaprenderer');
    this.element = h('figure', {}, this.canvas, h('figcaption', {}, h('b', {}, name), this.note));
    this.feed = new CameraFeed(name, (picture) => {
      this.canvas.width = picture.width;
      this.canvas.height = picture.height;
      context?.transferFromImageBitmap(picture);
      this.times.push(performance.now());
    });
    this.timer = setInterval(() => this.tell(), 500);
  }

  stop(): void {
    clearInterval(this.timer);
    this.feed.stop();
  }

  private tell(): void {
    const now = performance.now();
    this.times = this.times.filter((t) => now - t < 2000);
    const age = (now - this.feed.lastAt) / 1000;
    const old = this.feed.pictures === 0 || age > 1;
    this.element.classList.toggle('old', old);
    text(this.note, this.feed.pictures === 0 ? 'no picture yet' : old ? `picture is ${age.toFixed(0)} s old` : `${(this.times.length / 2).toFixed(0)} Hz`);
  }
}

export class Views {
  private readonly tabs = h('div', { class: 'tabs' });
  private readonly stage = h('div', { class: 'stage' });
  private readonly empty = h('p', { class: 'empty' }, 'No camera is published. Start the graph with cameras:=true, or wait for its cameras.');
  private shown: View[] = [];
  private names: string[] = [];
  private chosen = localStorage.getItem('cockpit-view') ?? '';

  constructor(parent: HTMLElement) {
    parent.append(this.tabs, this.stage, this.empty);
  }

  update(names: string[]): void {
    if (names.join() === this.names.join()) return;
    this.names = names;
    this.empty.hidden = names.length > 0;
    this.tabs.replaceChildren(...names.map((name) => button(name.replaceAll('_', ' '), () => this.choose(name), 'tab')));
    if (names.length > 1) this.tabs.append(button('all', () => this.choose('all'), 'tab'));
    this.choose(names.includes(this.chosen) || this.chosen === 'all' ? this.chosen : names.includes('overshoulder') ? 'overshoulder' : (names[0] ?? ''));
  }

  private choose(name: string): void {
    this.chosen = name;
    if (name) localStorage.setItem('cockpit-view', name);
    const wanted = name === 'all' ? this.names : name ? [name] : [];
    for (const view of this.shown) view.stop();
    this.shown = wanted.map((each) => new View(each));
    this.stage.replaceChildren(...this.shown.map((view) => view.element));
    this.stage.classList.toggle('many', wanted.length > 1);
    [...this.tabs.children].forEach((tab, i) => tab.setAttribute('aria-pressed', String((this.names[i] ?? 'all') === name)));
  }
}
