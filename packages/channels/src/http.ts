import type { Outbound, OutboundRequest, OutboundResponse } from '@troupe/kernel';
import { parseAnswer, randomHex } from '@troupe/kernel';
import type { OutgoingFile } from './channel.ts';
import { TryLater, Undeliverable } from './errors.ts';
import { FILE_BYTES } from '@troupe/contract';

/** How services are asked, and what all of them answer alike. */

const DOWNLOAD_MS = 120_000;
const LONGEST_WAIT_S = 3600;

/** A service may ask for as long a pause as it likes; ours is bounded. */
export const tryLater = (service: string, seconds: unknown): TryLater =>
  new TryLater(service, Math.min(Math.max(Number(seconds) || 1, 1), LONGEST_WAIT_S) * 1000);

/** The body as JSON; what is none is an empty object, whatever the status says. */
export async function jsonOf(response: OutboundResponse): Promise<Record<string, unknown>> {
  const text = await response.text();
  try {
    const parsed = parseAnswer(text);
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** A form with fields and one file, as browsers send it. */
export function formWith(
  fields: Readonly<Record<string, string>>,
  { name, field }: { name: string; field: string },
  { bytes }: Pick<OutgoingFile, 'bytes'>,
): Pick<OutboundRequest, 'body'> & { headers: Record<string, string> } {
  const boundary = `troupe-${randomHex(16)}`;
  const quoted = name.replaceAll(/["\r\n]/g, '_');
  const head = Object.entries(fields).map(
    ([key, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${key}"\r\n\r\n${value}\r\n`,
  );
  const file = `--${boundary}\r\ncontent-disposition: form-data; name="${field}"; filename="${quoted}"\r\ncontent-type: application/octet-stream\r\n\r\n`;
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([Buffer.from(head.join('') + file), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  };
}

/** A file of a service. `headers` hold its token: they go to the address that was asked and to no other. */
export async function download(
  outbound: Outbound,
  url: string,
  headers: Record<string, string> = {},
): Promise<AsyncIterable<Uint8Array>> {
  const response = await outbound.fetch(url, { headers, timeout: DOWNLOAD_MS, maxBytes: FILE_BYTES + 1 });
  if (response.status === 200) return response.body;
  response.cancel();
  if (response.status === 429 || response.status >= 500) throw new Error(`a file was answered with ${response.status}`);
  throw new Undeliverable('the service does not give it');
}
