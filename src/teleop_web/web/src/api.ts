/** REST calls of the gateway. */
import { pairingCode, type Link } from './link';
import type { Result } from './protocol';

/** Post to the gateway; a failure of any kind is a result that says what happened. */
export async function post(path: string, body: object = {}): Promise<Result> {
  try {
    const response = await fetch(`/api/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Pairing-Code': pairingCode() },
      body: JSON.stringify(body),
      // a page that is closed right after the press has pressed all the same
      keepalive: true,
    });
    const answer = (await response.json()) as Partial<Result>;
    return { success: response.ok && answer.success === true, message: answer.message ?? response.statusText };
  } catch {
    return { success: false, message: 'the gateway does not answer; is it running?' };
  }
}

/** Stop every arm, on the open socket and by a request at once: one may be in a queue, and one that gets through is enough. */
export async function estop(link: Pick<Link, 'estop'>): Promise<Result> {
  const [spoken, posted] = [link.estop(), post('estop')];
  const done = [spoken, posted].map(async (way) => {
    const result = await way;
    if (!result.success) throw new Error(result.message);
    return result;
  });
  // when both failed, the request's answer says more
  return Promise.any(done).catch(() => posted);
}
