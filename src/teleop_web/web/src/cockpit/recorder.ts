/** The recorder's card: takes, their task, and what became of the last one. */
import type { State } from '../protocol';
import { recorderText } from '../words';
import { button, h, text, tone } from './dom';

const DRAFT = 'task';

export class RecorderCard {
  readonly element: HTMLElement;
  private readonly badge = h('strong', { class: 'badge' });
  private readonly facts = h('p', { class: 'facts' });
  private readonly task = h('input', { type: 'text', 'aria-label': 'task', placeholder: 'task: one instruction for the data set', maxlength: '500' });
  private readonly buttons: Record<'start' | 'end' | 'discard' | 'open' | 'close', HTMLButtonElement>;

  constructor(onCommand: (command: string, task: string) => void) {
    // a draft belongs to this page until a take is started with it
    this.task.value = localStorage.getItem(DRAFT) ?? '';
    this.task.oninput = () => localStorage.setItem(DRAFT, this.task.value);
    const made = (label: string, command: string, kind = ''): HTMLButtonElement => button(label, () => onCommand(command, this.task.value.trim()), kind);
    this.buttons = {
      start: made('record', 'start', 'primary'),
      end: made('end take', 'end'),
      discard: button('discard', () => {
        if (confirm('Put the take aside? Its files go to the folder discarded.')) onCommand('discard', '');
      }),
      open: made('open session', 'open_session'),
      close: made('close session', 'close_session'),
    };
    this.element = h('section', { class: 'card' }, h('h2', {}, 'Recording'), this.badge, this.facts, this.task, h('div', { class: 'buttons' }, ...Object.values(this.buttons)));
    this.element.hidden = true;
  }

  update(state: State): void {
    const { recorder } = state;
    this.element.hidden = recorder === null;
    if (!recorder) return;
    const { recording, session_path: path, task } = recorder;
    const words = recorderText(recorder);
    text(this.badge, words.text);
    tone(this.badge, words.tone);
    text(this.facts, [recording && task ? `task: ${task}` : '', path].filter(Boolean).join('  ·  '));
    this.buttons.start.disabled = recording || state.estop.latched;
    this.buttons.end.disabled = !recording;
    this.buttons.discard.disabled = !path;
    this.buttons.open.disabled = path !== '';
    this.buttons.close.disabled = path === '';
  }
}
