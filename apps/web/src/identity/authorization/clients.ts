import type { Database } from '@troupe/db';
import { AppError, newId, parseJson, type Clock, type Outbound } from '@troupe/kernel';
import { z } from 'zod';
import { isRedirect } from './redirects.ts';
import { findClient, forgetLeft, forgetUnused, saveClient, type ClientRow } from './store.ts';

/** Programs that ask for access: those that registered themselves, and those that are the address of their description. */

export interface ClientsDeps {
  db: Database;
  clock: Clock;
  outbound: Outbound;
}

export type Clients = ReturnType<typeof createClients>;

const DAY_MS = 24 * 3_600_000;
/** Anybody may register; what nobody ever lets in must not pile up, and must not keep others out: the oldest go. */
const MOST_UNUSED = 10_000;
/** A program that was let in and does not come for so long: what it was given has ended after a month. */
const LEFT_MS = 90 * DAY_MS;
/** A description is only kept so that it need not be asked for again. */
const MOST_DESCRIBED = 1_000;
/** A description is believed for so long. */
const DESCRIBED_MS = 600_000;
const MOST_CHARACTERS = 80;
const DOCUMENT = { timeout: 5_000, maxBytes: 32_768, redirects: 0 };

const UNKNOWN = () => new AppError(400, 'This program is not registered here');

const documentSchema = z.looseObject({
  client_id: z.string(),
  client_name: z.string().trim().min(1).max(200).optional(),
  redirect_uris: z.array(z.string().max(2000)).min(1).max(20),
  grant_types: z.array(z.string()).max(20).optional(),
});

/** As people read it beside what they are asked for: nothing that breaks a line, turns it around, or cannot be seen. */
const shown = (name = ''): string =>
  name
    .replaceAll(/[\p{C}\p{Z}]+/gu, ' ')
    .trim()
    .slice(0, MOST_CHARACTERS)
    .toWellFormed()
    .trim();

/** The description that is behind the address; undefined: it is none, or one of another program. */
export function readDocument(address: string, text: string): Omit<ClientRow, 'created_at'> | undefined {
  const parsed = documentSchema.safeParse(parseJson(text));
  if (!parsed.success || parsed.data.client_id !== address) return undefined;
  const { client_name, redirect_uris, grant_types } = parsed.data;
  if (!redirect_uris.every(isRedirect)) return undefined;
  return {
    id: address,
    name: shown(client_name) || new URL(address).host,
    redirect_uris,
    refreshes: grant_types?.includes('refresh_token') ?? false,
    described: true,
  };
}

/** An address that can describe a program: https, with a path, without anything that hides what it is. */
export function isDescription(id: string): boolean {
  const url = URL.parse(id);
  return (
    url?.protocol === 'https:' &&
    url.pathname !== '/' &&
    url.username === '' &&
    url.password === '' &&
    !id.includes('#') &&
    url.href === id
  );
}

const saving =
  (db: Database) =>
  async (row: ClientRow): Promise<void> => {
    const { described, created_at: now } = row;
    const most = described ? MOST_DESCRIBED : MOST_UNUSED;
    const ago = (ms: number): Date => new Date(now.getTime() - ms);
    await saveClient(db.system, row);
    await forgetUnused(db.system, { described, before: ago(DAY_MS), most });
    await forgetLeft(db.system, { before: ago(LEFT_MS), now });
  };

export function createClients({ db, clock, outbound }: ClientsDeps) {
  const save = saving(db);
  async function described(address: string): Promise<ClientRow> {
    const known = await findClient(db.system, address);
    if (known && clock().getTime() - known.created_at.getTime() < DESCRIBED_MS) return known;
    let found: Omit<ClientRow, 'created_at'> | undefined;
    try {
      const answer = await outbound.fetch(address, { ...DOCUMENT, headers: { accept: 'application/json' } });
      if (answer.status === 200) found = readDocument(address, await answer.text());
      else answer.cancel();
    } catch (cause) {
      throw new AppError(400, 'This program is not registered here', {}, { cause });
    }
    if (!found) throw UNKNOWN();
    const row = { ...found, created_at: clock() };
    await save(row);
    return row;
  }

  return {
    async find(id: string): Promise<ClientRow> {
      if (isDescription(id)) return described(id);
      const found = await findClient(db.system, id);
      if (!found) throw UNKNOWN();
      return found;
    },

    async register(given: { redirect_uris: string[]; client_name?: string; grant_types?: string[] }) {
      const { redirect_uris, client_name, grant_types = ['authorization_code'] } = given;
      if (redirect_uris.length === 0 || !redirect_uris.every(isRedirect))
        throw new AppError(400, 'invalid_redirect_uri', {
          error_description: 'redirect_uris must be https, a loopback address, or a scheme of the program’s own',
        });
      const now = clock();
      const row: ClientRow = {
        id: newId(),
        name: shown(client_name) || new URL(redirect_uris[0]!).host || 'A program',
        redirect_uris,
        refreshes: grant_types.includes('refresh_token'),
        described: false,
        created_at: now,
      };
      await save(row);
      return {
        client_id: row.id,
        client_id_issued_at: Math.floor(now.getTime() / 1000),
        client_name: row.name,
        redirect_uris,
        grant_types: ['authorization_code', ...(row.refreshes ? ['refresh_token'] : [])],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      };
    },
  };
}
