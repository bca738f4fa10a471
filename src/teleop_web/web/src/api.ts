/** REST calls of the gateway. */
import { pairingCode } from './link';

export interface Result {
  success: boolean;
  message: string;
}

/** Post to the gateway; a failure of any kind is a result that says what happened. */
export async function post(path: string, body: object = {}): Promise<Result> {
  try {
    const response = await fetch(`/api/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Pairing-Code': pairingCode() },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as Partial<Result>;
    return { success: response.ok && answer.success === true, message: answer.message ?? response.statusText };
  } catch {
    return { success: false, message: 'the gateway does not answer; is it running?' };
  }
}
