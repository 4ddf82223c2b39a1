import type { Outbound } from './outbound.ts';

const ANSWER_MS = 15_000;
/** Of an answer, which nobody reads. */
const MAX_BYTES = 64 * 1024;

interface Message {
  headers: Record<string, string>;
  body: string | Uint8Array;
}

/** The status of the answer; throws an OutboundError. Nothing is sent on: what is sealed or signed goes where it was meant to. */
export async function bring(outbound: Outbound, url: string, { headers, body }: Message): Promise<number> {
  const bounds = { timeout: ANSWER_MS, maxBytes: MAX_BYTES, redirects: 0 };
  const answer = await outbound.fetch(url, { method: 'POST', headers, body, ...bounds });
  answer.cancel();
  return answer.status;
}
