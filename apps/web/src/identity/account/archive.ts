import { gateway } from '@troupe/contract';
import type { Database } from '@troupe/db';
import { type BackendClient, type TarEntry, type User } from '@troupe/kernel';
import { walletAccount, type Ledger } from '@troupe/ledger';
import { reach } from '../../platform/reach.ts';
import { eventsOf, EXPORTED, pageOf, profileOf, walletsOf, type ExportedName, type Row } from './store.ts';

/** Everything that somebody has, one file after the other; nothing is held but the file that is being written. */

export interface ArchiveDeps {
  db: Database;
  ledger: Ledger;
  backend: BackendClient;
}

interface For {
  user: User;
  address: string;
  signal: AbortSignal;
}

const README = `Everything that this account has on the platform.

profile.json               who you are here
NAME-0001.ndjson           rows, one JSON object a line; longer lists go on in -0002
conversations/ID/          the steps of each conversation, in order
files/AGENT/               the files of each agent that was running
ledger/ADDRESS.ndjson      what moved on the platform for each of your wallets

Secrets are not in here: passwords, keys and tokens are kept as hashes or sealed. Amounts are millionths of a US dollar
where a name ends in micros, and smallest units of the asset elsewhere.
`;

/** What opens something, or is kept so that nobody can read it. */
const SECRET = /hash|sealed|secret|token|password|^tokens$|provider_key|search/;
const MOST_FILES = 100_000;
const DEEPEST = 32;
const LEDGER_ENTRIES = 10_000;
const TRANSFER_MS = 5 * 60_000;

const file = (path: string, text: string): TarEntry => ({ path, mode: 0o600, content: Buffer.from(text) });

const plain = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);
function line(row: Row): string {
  const shown = Object.entries(row).filter(([key, value]) => !SECRET.test(key) && !Buffer.isBuffer(value));
  return `${JSON.stringify(Object.fromEntries(shown), plain)}\n`;
}
const lines = (rows: Row[]): string => rows.map(line).join('');
const numbered = (name: string, number: number): string => `${name}-${String(number).padStart(4, '0')}.ndjson`;

function createFileReading(backend: BackendClient) {
  /** Folders one after the other; what is neither file nor folder is left out. */
  async function* files(whose: For, agentId: string): AsyncGenerator<TarEntry> {
    const { call, open } = backend.as(whose.user, whose.address);
    const folders = [''];
    let count = 0;
    for (let folder = folders.shift(); folder !== undefined && !whose.signal.aborted; folder = folders.shift()) {
      const query = folder === '' ? {} : { path: folder };
      const { entries, more } = await reach(call(gateway.files.list, { params: { agentId }, query }));
      if (more) yield file(`files/${agentId}/${folder}/NOT-ALL.txt`, 'This folder has more entries than are listed.\n');
      for (const { name, kind, bytes } of entries) {
        const path = folder === '' ? name : `${folder}/${name}`;
        if (kind === 'folder' && path.split('/').length < DEEPEST) folders.push(path);
        if (kind !== 'file' || (count += 1) > MOST_FILES) continue;
        const read = async function* (): AsyncGenerator<Buffer> {
          const answer = await reach(
            open(gateway.files.read, {
              params: { agentId },
              query: { path },
              signal: whose.signal,
              timeout: TRANSFER_MS,
            }),
          );
          for await (const piece of answer.body ?? []) yield Buffer.from(piece as Uint8Array);
        };
        yield { path: `files/${agentId}/${path}`, mode: 0o600, file: { size: bytes, read } };
      }
    }
  }

  async function* filesOf(whose: For, agentId: string): AsyncGenerator<TarEntry> {
    try {
      yield* files(whose, agentId);
    } catch (error) {
      if (whose.signal.aborted) throw error;
      yield file(
        `files/${agentId}/NOT-INCLUDED.txt`,
        `${(error as Error).message}\nStart the agent and export again.\n`,
      );
    }
  }

  return filesOf;
}

export function createArchive({ db, ledger, backend }: ArchiveDeps) {
  async function* table({ user, signal }: For, name: ExportedName): AsyncGenerator<TarEntry & { rows: Row[] }> {
    let last: Row | undefined;
    for (let number = 1; !signal.aborted; number += 1) {
      const rows = await pageOf(db.user(user.id), name, last);
      if (rows.length === 0) return;
      yield { ...file(numbered(name, number), lines(rows)), rows };
      last = rows.at(-1);
    }
  }

  async function* steps({ user, signal }: For, sessionId: string): AsyncGenerator<TarEntry> {
    let last = 0;
    for (let number = 1; !signal.aborted; number += 1) {
      const rows = await eventsOf(db.user(user.id), sessionId, last);
      if (rows.length === 0) return;
      yield file(numbered(`conversations/${sessionId}/steps`, number), lines(rows));
      last = Number(rows.at(-1)!['seq']);
    }
  }

  async function* money({ user }: For): AsyncGenerator<TarEntry> {
    for (const { address } of await walletsOf(db.system, user.id)) {
      const entries = await ledger.entries(db.system, walletAccount(address).id, LEDGER_ENTRIES);
      if (entries.length > 0) yield file(`ledger/${address}.ndjson`, lines(entries.map((entry) => ({ ...entry }))));
    }
  }

  const filesOf = createFileReading(backend);

  return async function* archive(whose: For): AsyncGenerator<TarEntry> {
    yield file('README.txt', README);
    yield file('profile.json', line((await profileOf(db.user(whose.user.id))) ?? {}));
    const agents: string[] = [];
    for (const name of Object.keys(EXPORTED) as ExportedName[])
      for await (const { rows, ...entry } of table(whose, name)) {
        yield entry;
        if (name === 'agents') agents.push(...rows.map(({ id }) => String(id)));
        if (name === 'conversations') for (const { id } of rows) yield* steps(whose, String(id));
      }
    yield* money(whose);
    for (const agentId of agents) yield* filesOf(whose, agentId);
  };
}
