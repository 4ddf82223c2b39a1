import { CallError, validationMessage } from '@troupe/contract';
import type { Endpoint } from '@troupe/contract';

/** What the platform would refuse is refused here, by the contract's own schemas and in its words, before it is sent. */

interface Sent {
  params?: unknown;
  body?: unknown;
}

/** A path goes as text. */
const asText = (params: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries((params ?? {}) as object).map(([name, value]) => [name, String(value)]));

/** What a schema made up begins with a space, for the name of the field; below the field it is a sentence. */
const sentence = (message: string): string =>
  message.startsWith(' ') ? message.charAt(1).toUpperCase() + message.slice(2) : message;

/** What the platform would answer; `fields` has what is wrong by field, as far as a field is to blame. */
function refusedBy(endpoint: Endpoint, sent: object): CallError | undefined {
  const { params, body } = sent as Sent;
  const parts = [
    [endpoint.params, asText(params), 'path'],
    [endpoint.rawBody ? undefined : endpoint.body, body ?? {}, 'body'],
  ] as const;
  for (const [schema, value, whole] of parts) {
    const { error } = schema?.safeParse(value) ?? {};
    if (!error) continue;
    const fields: Record<string, string> = {};
    for (const { path, message } of error.issues)
      if (path.length > 0) fields[path.map(String).join('.')] ??= sentence(message);
    return new CallError(400, { error: validationMessage(error, whole), fields });
  }
  return undefined;
}

export function check(endpoint: Endpoint, sent: object): void {
  const refused = refusedBy(endpoint, sent);
  if (refused) throw refused;
}

/** A number that was typed; nothing typed is none. */
export const numberOf = (typed: string): number => (typed.trim() === '' ? Number.NaN : Number(typed));

/** What is wrong with each field, by its path; empty where none is to blame. */
export const refusedFields = (error: unknown): Readonly<Record<string, string>> =>
  error instanceof CallError ? ((error.body['fields'] ?? {}) as Record<string, string>) : {};

/** What is still wrong while somebody mends what the contract refused. What the platform said stays as it is. */
export const stillRefused = (error: Error | null, endpoint: Endpoint, sent: object): Error | null =>
  Object.keys(refusedFields(error)).length === 0 ? error : (refusedBy(endpoint, sent) ?? null);

/** What a form says of the fields that it shows, and what is left to say beneath them. */
export function refusal(error: Error | null, shown: readonly string[]): { at: Record<string, string>; rest?: string } {
  if (!error) return { at: {} };
  const fields = Object.entries(refusedFields(error));
  const placeOf = (path: string) => shown.find((name) => path === name || path.startsWith(`${name}.`));
  const at: Record<string, string> = {};
  let isTold = fields.length > 0;
  for (const [path, text] of fields) {
    const place = placeOf(path);
    if (place === undefined) isTold = false;
    else at[place] ??= text;
  }
  return isTold ? { at } : { at, rest: error.message };
}
