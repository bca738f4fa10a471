/** The control socket: pairing, identity, reconnection. */
import type { Result, ServerMessage } from './protocol';

export const CLOSE_REFUSED = 4401;
export const CLOSE_REPLACED = 4409;
/** More than this waiting in the socket means the link is behind: a pose that queues is a pose too late. */
const MAX_BUFFERED = 16 * 1024;
const RETRY_FIRST_MS = 200;
const RETRY_MAX_MS = 2000;
const PING_MS = 1000;
/** A little more than the gateway waits for the services. */
const ANSWER_MS = 6000;

export type LinkState = 'connecting' | 'open' | 'refused' | 'replaced' | 'closed';

/** Return the pairing code: from the address (then removed from it), else as remembered by this tab. */
export function pairingCode(): string {
  const url = new URL(location.href);
  const given = url.searchParams.get('code');
  if (given !== null) {
    sessionStorage.setItem('code', given);
    url.searchParams.delete('code');
    history.replaceState(null, '', url);
  }
  return sessionStorage.getItem('code') ?? '';
}

/** Return this tab's identity; it survives a reload, so that a reconnect gets its place back. */
export function identity(): string {
  let id = sessionStorage.getItem('identity');
  if (id === null) {
    id = crypto.getRandomValues(new Uint32Array(4)).join('-');
    sessionStorage.setItem('identity', id);
  }
  return id;
}

export interface LinkOptions {
  role: 'operator' | 'viewer';
  name: string;
  onMessage: (message: ServerMessage) => void;
  onState: (state: LinkState, reason: string) => void;
}

export class Link {
  state: LinkState = 'connecting';
  key: number | null = null;
  operatorKey: number | null = null;
  dropped = 0;
  roundTrip: number | null = null;
  private socket: WebSocket | null = null;
  private retry = RETRY_FIRST_MS;
  private timer: number | undefined;
  private reason = '';
  private stops: ((result: Result) => void)[] = [];

  constructor(private readonly options: LinkOptions) {
    setInterval(() => this.ping(), PING_MS);
  }

  get isOperator(): boolean {
    return this.key !== null && this.key === this.operatorKey;
  }

  /** Connect, or connect anew, for instance after a new code was typed. */
  connect(): void {
    clearTimeout(this.timer);
    this.socket?.close();
    this.answerStops({ success: false, message: 'the socket closed before it answered' });
    this.set('connecting', '');
    const secure = location.protocol === 'https:' ? 'wss' : 'ws';
    const socket = new WebSocket(`${secure}://${location.host}/ws`);
    this.socket = socket;
    socket.onopen = () => {
      const { role, name } = this.options;
      socket.send(JSON.stringify({ type: 'hello', code: pairingCode(), client: identity(), role, name }));
    };
    socket.onmessage = (event) => this.receive(JSON.parse(String(event.data)) as ServerMessage);
    socket.onclose = (event) => {
      if (socket !== this.socket) return;
      this.key = null;
      this.answerStops({ success: false, message: 'the socket closed before it answered' });
      if (event.code === CLOSE_REFUSED) return this.set('refused', this.reason || event.reason);
      if (event.code === CLOSE_REPLACED) return this.set('replaced', this.reason || 'opened again elsewhere');
      this.set('closed', 'the gateway does not answer; trying again');
      this.timer = setTimeout(() => this.connect(), this.retry);
      this.retry = Math.min(RETRY_MAX_MS, this.retry * 2);
    };
  }

  /** Send a message; false when there is no open socket. */
  send(message: object): boolean {
    if (this.socket?.readyState !== WebSocket.OPEN || this.key === null) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  /** Ask for an e-stop; resolves with the answer, at once with a failure when there is no open socket. */
  estop(): Promise<Result> {
    if (!this.send({ type: 'estop' })) return Promise.resolve({ success: false, message: 'there is no open socket' });
    return new Promise((resolve) => {
      this.stops.push(resolve);
      setTimeout(() => resolve({ success: false, message: 'the gateway did not answer on the socket' }), ANSWER_MS);
    });
  }

  /** Send a sample, or drop it when the link is behind, unless it `must` arrive: a late press or release still counts. */
  sendFrame(frame: object, must: boolean): boolean {
    if (!must && this.socket && this.socket.bufferedAmount > MAX_BUFFERED) {
      this.dropped++;
      return false;
    }
    return this.send(frame);
  }

  private answerStops(result: Result): void {
    for (const resolve of this.stops.splice(0)) resolve(result);
  }

  private set(state: LinkState, reason: string): void {
    this.state = state;
    this.options.onState(state, reason);
  }

  private ping(): void {
    this.send({ type: 'ping', t: performance.now(), round_trip: this.roundTrip });
  }

  private receive(message: ServerMessage): void {
    if (message.type === 'welcome') {
      this.key = message.key;
      this.operatorKey = message.operator.key;
      this.retry = RETRY_FIRST_MS;
      this.reason = '';
      this.set('open', '');
    } else if (message.type === 'operator') {
      this.operatorKey = message.operator.key;
    } else if (message.type === 'pong' && message.t !== null) {
      this.roundTrip = (performance.now() - message.t) / 1000;
    } else if (message.type === 'refused' || message.type === 'lost_control') {
      this.reason = message.reason;
    } else if (message.type === 'estop') {
      // answers come in the order of the presses only by chance, and each says the same: the arms are stopped, or are not
      this.answerStops(message);
    }
    this.options.onMessage(message);
  }
}
