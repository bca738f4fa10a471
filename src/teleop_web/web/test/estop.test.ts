import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { estop } from '../src/api';
import { Link } from '../src/link';

/** A socket that the test answers for. */
class Wire {
  static readonly OPEN = 1;
  static last: Wire;
  readyState = 1;
  bufferedAmount = 0;
  sent: { type: string }[] = [];
  onopen = (): void => undefined;
  onmessage = (_event: { data: string }): void => undefined;
  onclose = (_event: { code: number; reason: string }): void => undefined;
  constructor() {
    Wire.last = this;
  }
  send(text: string): void {
    this.sent.push(JSON.parse(text) as { type: string });
  }
  close(): void {
    this.readyState = 3;
  }
  say(message: object): void {
    this.onmessage({ data: JSON.stringify(message) });
  }
}

const paired = (): Link => {
  const link = new Link({ role: 'viewer', name: 'cockpit', onMessage: () => undefined, onState: () => undefined });
  link.connect();
  Wire.last.onopen();
  Wire.last.say({ type: 'welcome', key: 1, client: 'a', operator: { key: null, name: '', connection: 0 } });
  return link;
};
const answers = (...responses: (() => Promise<unknown>)[]): ReturnType<typeof vi.fn> => {
  const fetch = vi.fn();
  for (const response of responses) fetch.mockImplementationOnce(response);
  vi.stubGlobal('fetch', fetch);
  return fetch;
};
const never = (): Promise<unknown> => new Promise(() => undefined);
const lost = (): Promise<unknown> => Promise.reject(new TypeError('connection lost'));
const json = (success: boolean, message: string) => (): Promise<unknown> => Promise.resolve({ ok: success, json: () => Promise.resolve({ success, message }) });

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('WebSocket', Wire);
  vi.stubGlobal('location', { protocol: 'http:', host: 'x', href: 'http://x/' });
  const kept = new Map<string, string>();
  vi.stubGlobal('sessionStorage', { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => kept.set(key, value) });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test('a stop goes both ways at once, and the request outlives the page', () => {
  const fetch = answers(never);
  void estop(paired());
  expect(Wire.last.sent.at(-1)).toEqual({ type: 'estop' });
  expect(fetch).toHaveBeenCalledWith('/api/estop', expect.objectContaining({ method: 'POST', keepalive: true }));
});

test('the way that gets through says done, whatever became of the other', async () => {
  answers(lost);
  const stopped = estop(paired());
  Wire.last.say({ type: 'estop', success: true, message: 'latched' });
  expect(await stopped).toMatchObject({ success: true, message: 'latched' });
  answers(json(true, ''));
  const again = estop(paired());
  Wire.last.onclose({ code: 1006, reason: '' });
  expect((await again).success).toBe(true);
});

test('without a socket the request does it alone', async () => {
  answers(json(true, ''));
  const link = paired();
  Wire.last.readyState = 3;
  expect((await estop(link)).success).toBe(true);
});

test('a stop that failed both ways says what the request was told', async () => {
  answers(json(false, "/left/estop: service '/left/estop': got no server"));
  const stopped = estop(paired());
  await vi.advanceTimersByTimeAsync(6000);
  expect(await stopped).toMatchObject({ success: false, message: expect.stringContaining('/left/estop') as string });
});

test('a sample that waits behind others is dropped unless it must arrive', () => {
  const link = paired();
  Wire.last.bufferedAmount = 1e6;
  expect(link.sendFrame({ type: 'frame' }, false)).toBe(false);
  expect(link.sendFrame({ type: 'frame' }, true)).toBe(true);
  expect(link.dropped).toBe(1);
});
