import { gateway, type backend, type Client, type TypesOf } from '@troupe/contract';
import { isOrphan, type UserTx } from '@troupe/db';
import { AppError, createCipher, iso, isoOrNull, newId, type Cipher } from '@troupe/kernel';
import { changed, paged, type ListQuery } from './paging.ts';
import { toldBy } from './reaching.ts';
import type { ManagedDeps } from './service.ts';
import type { Metadata } from './store.ts';
import * as store from './vaults-store.ts';

/**
 * Vaults: what opens MCP servers, each sealed for its row alone. An agent has one set of keys for all of its sessions, so
 * those that go on at a time must name the same vaults: nobody comes to another's access by talking to the same agent.
 */

export interface VaultDeps extends Pick<ManagedDeps, 'db' | 'clock'> {
  cipher: Cipher;
}

export const vaultCipher = (walletKey: string): Cipher => createCipher(walletKey, 'vaults');

type NewVault = TypesOf<typeof backend.managed.createVault>['body'];
type VaultChange = TypesOf<typeof backend.managed.updateVault>['body'];
type NewCredential = TypesOf<typeof backend.managed.createCredential>['body'];
type CredentialChange = TypesOf<typeof backend.managed.updateCredential>['body'];
type Credential = TypesOf<typeof backend.managed.getCredential>['reply'];
export type Vaults = ReturnType<typeof createVaults>;

const context = (id: string): string => `vault credential ${id}`;

const stamps = (row: store.VaultRow | store.CredentialRow) => ({
  metadata: row.metadata as Metadata,
  created_at: iso(row.created_at),
  updated_at: iso(row.updated_at),
  archived_at: isoOrNull(row.archived_at),
});

const shownVault = (row: store.VaultRow) => ({
  type: 'vault' as const,
  id: row.id,
  display_name: row.name,
  ...stamps(row),
});

const shownCredential = (row: store.CredentialRow): Credential => ({
  type: 'vault_credential',
  id: row.id,
  vault_id: row.vault_id,
  display_name: row.name,
  auth:
    row.kind === 'static_bearer'
      ? { type: row.kind, mcp_server_url: row.url }
      : { type: row.kind, mcp_server_url: row.url, expires_at: isoOrNull(row.expires_at), refresh: null },
  ...stamps(row),
});

export function createVaults(deps: VaultDeps) {
  const { db } = deps;
  const got = async (userId: string, id: string): Promise<store.VaultRow> => {
    const row = await store.vault(db, userId, id);
    if (!row) throw new AppError(404, 'Vault not found');
    return row;
  };
  return { ...keepingVaults(deps, got), ...keepingCredentials(deps, got), ...opening(deps, got) };
}

type Got = (userId: string, id: string) => Promise<store.VaultRow>;

function keepingVaults({ db, clock }: VaultDeps, got: Got) {
  const change = (userId: string, id: string, work: (tx: UserTx) => Promise<store.VaultRow | undefined>) =>
    db.asUser(userId, async (tx) => {
      const row = await work(tx);
      if (!row) throw new AppError(404, 'Vault not found');
      return shownVault(row);
    });
  return {
    async createVault(userId: string, { display_name: name, metadata }: NewVault) {
      const at = clock();
      const row = { id: `vlt_${newId()}`, user_id: userId, name, created_at: at, updated_at: at };
      const kept = { ...row, metadata: JSON.stringify(metadata ?? {}) };
      await store.addVault(db, userId, kept).catch((cause: unknown) => {
        throw isOrphan(cause) ? new AppError(404, 'User not found', {}, { cause }) : cause;
      });
      return shownVault({ ...row, metadata: metadata ?? {}, archived_at: null });
    },
    getVault: async (userId: string, id: string) => shownVault(await got(userId, id)),
    async updateVault(userId: string, id: string, { display_name: name, metadata }: VaultChange) {
      const was = await got(userId, id);
      const next = JSON.stringify(changed(was.metadata as Metadata, metadata));
      const values = { ...(name != null && { name }), metadata: next, updated_at: clock() };
      return change(userId, id, (tx) => store.changeVault(tx, id, values));
    },
    listVaults: (userId: string, query: ListQuery) =>
      paged(query, (page) => store.vaults(db, userId, page), shownVault),
    async archiveVault(userId: string, id: string) {
      const was = await got(userId, id);
      const at = clock();
      return change(userId, id, async (tx) => {
        await store.forgetIn(tx, id, at);
        return store.changeVault(tx, id, { archived_at: was.archived_at ?? at, updated_at: at });
      });
    },
    async deleteVault(userId: string, id: string) {
      if (!(await store.removeVault(db, userId, id))) throw new AppError(404, 'Vault not found');
      return { id, type: 'vault_deleted' as const };
    },
  };
}

const secretOf = (auth: NonNullable<CredentialChange['auth']>): string | null | undefined =>
  auth.type === 'static_bearer' ? auth.token : auth.access_token;
const expiryOf = (auth: NonNullable<CredentialChange['auth']>): string | null | undefined =>
  auth.type === 'static_bearer' ? undefined : auth.expires_at;
const dateOf = (text: string | null | undefined): Date | null => (text == null ? null : new Date(text));

function findingCredentials({ db, clock, cipher }: VaultDeps, got: Got) {
  const one = async (userId: string, vaultId: string, id: string): Promise<store.CredentialRow> => {
    const vault = await got(userId, vaultId);
    const row = await store.credential(db, userId, vault.id, id);
    if (!row) throw new AppError(404, 'Credential not found');
    return row;
  };
  const change = async (userId: string, id: string, values: Parameters<typeof store.changeCredential>[2]) => {
    const row = await store.changeCredential(db.user(userId), id, { ...values, updated_at: clock() });
    if (!row) throw new AppError(404, 'Credential not found');
    return shownCredential(row);
  };
  /** What is written down of it. */
  function kept(id: string, { auth, display_name: name, metadata }: CredentialChange, was: store.CredentialRow) {
    if (auth && auth.type !== was.kind) throw new AppError(400, 'auth: a credential stays of the type that it has');
    const secret = auth && secretOf(auth);
    const expiry = auth && expiryOf(auth);
    return {
      ...(name !== undefined && { name }),
      ...(secret != null && { sealed: cipher.seal(secret, context(id)) }),
      ...(expiry !== undefined && { expires_at: dateOf(expiry) }),
      metadata: JSON.stringify(changed(was.metadata as Metadata, metadata)),
    };
  }
  return { one, change, kept };
}

function keepingCredentials(deps: VaultDeps, got: Got) {
  const { db, clock, cipher } = deps;
  const { one, change, kept } = findingCredentials(deps, got);
  return {
    async createCredential(userId: string, vaultId: string, { auth, display_name: name, metadata }: NewCredential) {
      const vault = await got(userId, vaultId);
      if (vault.archived_at !== null) throw new AppError(400, 'The vault is archived');
      const at = clock();
      const id = `vcred_${newId()}`;
      const row = {
        id,
        user_id: userId,
        vault_id: vaultId,
        name: name ?? null,
        kind: auth.type,
        url: auth.mcp_server_url,
        sealed: cipher.seal(secretOf(auth)!, context(id)),
        expires_at: dateOf(expiryOf(auth)),
        archived_at: null,
        created_at: at,
        updated_at: at,
      };
      await store.addCredential(db, userId, { ...row, metadata: JSON.stringify(metadata ?? {}) });
      return shownCredential({ ...row, metadata: metadata ?? {} });
    },
    getCredential: async (userId: string, vaultId: string, id: string) =>
      shownCredential(await one(userId, vaultId, id)),
    async updateCredential(userId: string, vaultId: string, id: string, body: CredentialChange) {
      const was = await one(userId, vaultId, id);
      if (was.archived_at !== null) throw new AppError(400, 'The credential is archived');
      return change(userId, id, kept(id, body, was));
    },
    async listCredentials(userId: string, vaultId: string, query: ListQuery) {
      await got(userId, vaultId);
      return paged(query, (page) => store.credentials(db, userId, vaultId, page), shownCredential);
    },
    async archiveCredential(userId: string, vaultId: string, id: string) {
      const { archived_at: before } = await one(userId, vaultId, id);
      return change(userId, id, { archived_at: before ?? clock(), sealed: Buffer.alloc(0) });
    },
    async deleteCredential(userId: string, vaultId: string, id: string) {
      await got(userId, vaultId);
      if (!(await store.removeCredential(db, userId, vaultId, id))) throw new AppError(404, 'Credential not found');
      return { id, type: 'vault_credential_deleted' as const };
    },
    async validateCredential(userId: string, vaultId: string, id: string): Promise<never> {
      await one(userId, vaultId, id);
      throw new AppError(400, 'A server is tried where it is attached: POST /api/agents/:id/mcp-servers/:name/test');
    },
  };
}

interface Whose {
  userId: string;
  agentId: string;
}
interface Key {
  /** As it was when it was used: a change of it is another. */
  mark: string;
  token: string;
}

/** As much as a vault may have. */
const ALL = { limit: 100, offset: 0, archived: false };
const addressOf = (url: string): string => new URL(url).href;

function opening({ db, clock, cipher }: VaultDeps, got: Got) {
  /** By the address of a server; what an earlier vault has goes before a later one's. */
  async function keysOf(userId: string, vaultIds: readonly string[]): Promise<Map<string, Key>> {
    const keys = new Map<string, Key>();
    for (const vaultId of vaultIds)
      for (const row of await store.credentials(db, userId, vaultId, ALL)) {
        const url = addressOf(row.url);
        if (keys.has(url) || (row.expires_at !== null && row.expires_at <= clock())) continue;
        const token = cipher.open(row.sealed, context(row.id));
        keys.set(url, { mark: `${row.id} ${row.updated_at.getTime()}`, token });
      }
    return keys;
  }

  return {
    async checkVaults(userId: string, vaultIds: readonly string[]): Promise<void> {
      for (const id of vaultIds)
        if ((await got(userId, id)).archived_at !== null) throw new AppError(400, 'The vault is archived');
    },

    /** Refuses what would give one session the keys of another; holds until the transaction ends. */
    async checkOthers(tx: UserTx, agentId: string, vaultIds: readonly string[]): Promise<void> {
      if (await store.othersHave(tx, agentId, vaultIds))
        throw new AppError(
          400,
          'The agent’s servers are open with other vaults: its sessions share them, so give each its own agent',
        );
    },

    /** Opens the agent's servers with what these vaults have, and closes those that others had opened. */
    async open({ userId, agentId }: Whose, client: Client, vaultIds: readonly string[]): Promise<void> {
      const before = await store.opened(db, userId, agentId);
      if (vaultIds.length === 0 && Object.keys(before).length === 0) return;
      const keys = await keysOf(userId, vaultIds);
      const { servers } = await client.call(gateway.connections.list, { params: { agentId } }).catch(toldBy);
      const changes = servers.flatMap((server) => planFor(server, before, keys));
      const now = Object.fromEntries(changes.flatMap(({ name, key }) => (key ? [[name, key.mark]] : [])));
      // Noted before: what is broken off half way is open, and will be closed or opened anew.
      const underWay = Object.fromEntries(Object.keys({ ...before, ...now }).map((name) => [name, '']));
      await store.noteOpened(db, userId, agentId, underWay);
      for (const { name, key, body } of changes.filter((one) => before[one.name] !== one.key?.mark))
        await client
          .call(gateway.connections.attach, {
            params: { agentId, id: name },
            body: { ...body, headers: headersOf(key) },
          })
          .catch(toldBy);
      await store.noteOpened(db, userId, agentId, now);
    },
  };
}

type Server = TypesOf<typeof gateway.connections.list>['reply']['servers'][number];

/** What has to be done with a server: nothing where no vault has anything to do with it. */
function planFor({ name, url, headers, tools }: Server, before: store.Opened, keys: ReadonlyMap<string, Key>) {
  const key = url === undefined ? undefined : keys.get(addressOf(url));
  if (url === undefined || (!key && before[name] === undefined)) return [];
  // What the owner has written there is his, and would be lost.
  if (before[name] === undefined && headers.length > 0)
    throw new AppError(400, `The server ${name} has headers of its own: take them away to open it with a vault`);
  return [{ name, key, body: { url, ...(tools && { tools }) } }];
}

const headersOf = (key: Key | undefined): Record<string, string> =>
  key ? { authorization: `Bearer ${key.token}` } : {};
