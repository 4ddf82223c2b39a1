import type { Accounts } from '@troupe/accounts';
import {
  backend as onBackend,
  mayBeNamed,
  needsModels,
  NO_MODELS,
  PROVIDER_KINDS,
  type web,
  type AiProvider,
  type ProviderKind,
  type TypesOf,
} from '@troupe/contract';
import type { Database, SystemTx } from '@troupe/db';
import { AppError, createCipher, iso, newId, type BackendClient, type Cipher, type Clock } from '@troupe/kernel';
import { reach } from '../../platform/reach.ts';
import {
  deleteProvider,
  findProvider,
  insertProvider,
  listProviders,
  updateProvider,
  type ProviderRow,
} from './store.ts';

export interface ProvidersDeps {
  db: Database;
  backend: BackendClient;
  clock: Clock;
  audit: Accounts['audit'];
  sealKey: string;
}

export type ProvidersService = ReturnType<typeof createProviders>;

interface By {
  actorId: string;
  ip: string;
}

const MOST = 50;
/** The first asks a provider for its models and waits for a word of one. */
const TEST_MS = 60_000;
/** Beginnings of models' names that mean something else. */
const TAKEN = new Set<string>([...PROVIDER_KINDS, 'google', 'sandbox']);
const NOT_FOUND = 'Provider not found';

const told = ({ id, kind, name, base_url: baseUrl, key_sealed: key, ...row }: ProviderRow): AiProvider => ({
  id,
  kind,
  name,
  baseUrl,
  hasKey: key !== null,
  models: row.models,
  enabled: row.enabled,
  createdAt: iso(row.created_at),
});

/** None: as if nothing was said. */
const listed = (models: string[] | undefined): string[] | null =>
  models && models.length > 0 ? [...new Set(models)] : null;

const context = (id: string): string => `provider:${id}`;

/** Providers that administrators add. The backend uses them, and is told of every change by the database. */
export function createProviders(deps: ProvidersDeps) {
  const { db, backend } = deps;
  const cipher = createCipher(deps.sealKey, 'ai providers');
  const environment = async () => (await reach(backend.call(onBackend.providers.list, {}))).providers;

  return {
    ...changing(deps, cipher, environment),

    async list() {
      const [named, rows] = await Promise.all([environment(), listProviders(db.system)]);
      const own = named.map(({ name, baseUrl }) => ({
        id: null,
        kind: name,
        name,
        baseUrl,
        hasKey: name !== 'ollama',
        models: null,
        enabled: true,
        createdAt: null,
      }));
      return { providers: [...own, ...rows.map(told)] };
    },

    async test(given: TypesOf<typeof web.providers.test>['body']) {
      if (!('id' in given)) return reach(backend.call(onBackend.providers.test, { body: given, timeout: TEST_MS }));
      const row = await findProvider(db.system, given.id);
      if (!row) throw new AppError(404, NOT_FOUND);
      const { id, kind, name, base_url: baseUrl, key_sealed: sealed, models } = row;
      const body = {
        kind: kind as ProviderKind,
        name,
        ...(baseUrl !== null && { baseUrl }),
        ...(models !== null && { models }),
        ...(sealed && { apiKey: cipher.open(sealed, context(id)) }),
      };
      return reach(backend.call(onBackend.providers.test, { body, timeout: TEST_MS }));
    },
  };
}

/** Each change is in the audit log of who made it. */
function changing({ db, clock, audit }: ProvidersDeps, cipher: Cipher, environment: () => Promise<{ name: string }[]>) {
  const note = (tx: SystemTx, { actorId, ip }: By, action: string, name: string) =>
    audit(tx, { userId: actorId, actorId, action, ip, detail: { provider: name } });

  return {
    async add(by: By, { kind, name: given, baseUrl, apiKey, models }: TypesOf<typeof web.providers.add>['body']) {
      const name = mayBeNamed(kind) ? (given ?? kind) : kind;
      const isOthers = name !== kind && TAKEN.has(name);
      if (isOthers || (await environment()).some((one) => one.name === name))
        throw new AppError(409, `There is a provider ${name} already`);
      const id = newId();
      const row: ProviderRow = {
        id,
        kind,
        name,
        base_url: baseUrl ?? null,
        key_sealed: apiKey === undefined ? null : cipher.seal(apiKey, context(id)),
        models: listed(models),
        enabled: true,
        created_at: clock(),
      };
      await db.asSystem(async (tx) => {
        if ((await listProviders(tx)).length >= MOST) throw new AppError(409, `At most ${MOST} providers`);
        if (!(await insertProvider(tx, row))) throw new AppError(409, `There is a provider ${name} already`);
        await note(tx, by, 'provider.added', name);
      });
      return { provider: told(row) };
    },

    async change(by: By, id: string, given: TypesOf<typeof web.providers.change>['body']) {
      const { baseUrl, apiKey, models, enabled } = given;
      const values = {
        ...(baseUrl !== undefined && { base_url: baseUrl }),
        ...(apiKey !== undefined && { key_sealed: cipher.seal(apiKey, context(id)) }),
        ...(models !== undefined && { models: listed(models) }),
        ...(enabled !== undefined && { enabled }),
      };
      const row = await db.asSystem(async (tx) => {
        const found =
          Object.keys(values).length > 0 ? await updateProvider(tx, id, values) : await findProvider(tx, id);
        if (!found) throw new AppError(404, NOT_FOUND);
        if (needsModels(found.kind) && !found.models) throw new AppError(400, NO_MODELS);
        await note(tx, by, 'provider.changed', found.name);
        return found;
      });
      return { provider: told(row) };
    },

    async remove(by: By, id: string) {
      await db.asSystem(async (tx) => {
        const gone = await deleteProvider(tx, id);
        if (!gone) throw new AppError(404, NOT_FOUND);
        await note(tx, by, 'provider.removed', gone.name);
      });
      return { success: true as const };
    },
  };
}
