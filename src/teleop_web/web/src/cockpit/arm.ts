/** One arm: who drives it, why not, every joint against its limits. */
import type { Arm, Joint } from '../protocol';
import { armText, JOINT_REASONS, sinkText } from '../words';
import { button, h, text, tone } from './dom';

const degrees = (value: number | null): string => (value === null ? '–' : `${((value * 180) / Math.PI).toFixed(1)}°`);
const fraction = (joint: Joint, value: number): string => `${(100 * Math.min(1, Math.max(0, (value - joint.lower) / (joint.upper - joint.lower)))).toFixed(2)}%`;

class JointRow {
  readonly element: HTMLElement;
  private readonly measured = h('i', { class: 'measured' });
  private readonly committed = h('i', { class: 'committed' });
  private readonly value = h('span', { class: 'num' });
  private readonly goal = h('span', { class: 'num dim' });
  private readonly reason = h('span', { class: 'reason' });

  constructor(name: string) {
    const bar = h('div', { class: 'bar' }, this.committed, this.measured);
    this.element = h('div', { class: 'joint' }, h('span', { class: 'name' }, name.replaceAll('_', ' ')), bar, this.value, this.goal, this.reason);
  }

  update(joint: Joint): void {
    text(this.value, degrees(joint.measured));
    text(this.goal, degrees(joint.committed));
    const [short, meaning] = JOINT_REASONS[joint.reason] ?? [joint.reason, ''];
    text(this.reason, short);
    if (this.reason.title !== meaning) this.reason.title = meaning;
    for (const [mark, at] of [[this.measured, joint.measured], [this.committed, joint.committed]] as const) {
      mark.hidden = at === null;
      if (at !== null) mark.style.left = fraction(joint, at);
    }
    // close to a limit is worth a colour: the operator sees why the arm no longer follows
    const at = joint.measured;
    const span = joint.upper - joint.lower;
    tone(this.element, at !== null && (at - joint.lower < 0.02 * span || joint.upper - at < 0.02 * span) ? 'busy' : '');
  }
}

export class ArmCard {
  readonly element: HTMLElement;
  private readonly badge = h('strong', { class: 'badge' });
  private readonly sink = h('span', { class: 'pill' });
  private readonly facts = h('p', { class: 'facts' });
  private readonly torque: HTMLButtonElement;
  private readonly rows = new Map<string, JointRow>();
  private readonly table = h('div', { class: 'joints' });
  private torqueOn = false;

  constructor(name: string, onTorque: (on: boolean) => void) {
    this.torque = button('torque', () => onTorque(!this.torqueOn), 'small');
    const head = h('div', { class: 'row' }, h('h2', {}, `${name} arm`), this.sink, h('span', { class: 'grow' }), this.torque);
    const legend = h('div', { class: 'joint legend' }, h('span', { class: 'name' }, 'joint'), h('span', {}, 'lower to upper limit'), h('span', { class: 'num' }, 'measured'), h('span', { class: 'num' }, 'command'), h('span', {}, 'limited by'));
    this.element = h('article', { class: 'card arm' }, head, this.badge, this.facts, legend, this.table);
  }

  update(arm: Arm, provider: string): void {
    const { text: words, tone: colour } = armText(arm, provider);
    text(this.badge, words);
    tone(this.badge, colour);
    const sink = sinkText(arm);
    text(this.sink, sink.text);
    tone(this.sink, sink.tone);
    const heard = arm.driver?.heard ?? false;
    const hot = arm.driver && heard ? Math.max(0, ...arm.driver.temperature.map((t) => t ?? 0)) : 0;
    const facts = [
      arm.hand ? `${arm.hand} hand` : 'no hand',
      !arm.driver || !heard ? 'driver not heard' : `driver ${arm.driver.estop ? 'e-stopped' : arm.driver.error ? 'in error' : 'ready'}`,
      hot > 0 ? `hottest servo ${hot.toFixed(0)} °C` : '',
      arm.counters.some(Boolean) ? `counted: ${['too late', 'sent twice', 'refused', 'hand out of sight', 'limited'].map((n, i) => (arm.counters[i] ? `${n} ${arm.counters[i]}` : '')).filter(Boolean).join(', ')}` : '',
    ];
    text(this.facts, facts.filter(Boolean).join('  ·  '));
    this.torqueOn = arm.driver?.torque_on ?? false;
    this.torque.disabled = !heard;
    text(this.torque, heard ? `torque is ${this.torqueOn ? 'on' : 'OFF'}` : 'torque unknown');
    tone(this.torque, heard && !this.torqueOn ? 'bad' : '');
    for (const joint of arm.joints) {
      let row = this.rows.get(joint.name);
      if (!row) {
        row = new JointRow(joint.name);
        this.rows.set(joint.name, row);
        this.table.append(row.element);
      }
      row.update(joint);
    }
  }
}
