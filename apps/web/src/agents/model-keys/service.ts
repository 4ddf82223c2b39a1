import type { Accounts } from '@troupe/accounts';
import type { OwnKey } from '@troupe/ai';
import {
  backend as onBackend,
  NO_OWN_KEY,
  type ModelKey,
  type ProviderKind,
  type TypesOf,
  type web,
} from '@troupe/contract';
import { AppError, type BackendClient, type User } from '@troupe/kernel';
import type { AgentRow, Roster } from '@troupe/roster';
import { reach } from '../../platform/reach.ts';

export interface ModelKeysDeps {
  roster: Roster;
  backend: BackendClient;
  audit: Accounts['audit'];
}

export type ModelKeysService = ReturnType<typeof createModelKeys>;

type Body<Name extends 'give' | 'share' | 'take' | 'test'> = TypesOf<(typeof web.modelKeys)[Name]>['body'];

/** It asks the provider for its models and waits for a word of one. */
const TEST_MS = 60_000;
const TOLD_AT_ONCE = 8;

/** Enough to know it by, and too little to guess it by: of a short one nothing. */
const endingOf = (apiKey: string): string => (apiKey.length >= 16 ? apiKey.slice(-4) : '');

const told = ({ provider, apiKey }: OwnKey, rows: readonly AgentRow[]): ModelKey => ({
  provider,
  ending: endingOf(apiKey),
  agents: rows.map(({ id, name }) => ({ id, name })),
});

/** Gives agents a key, or takes what they have, and tells those that are awake. */
function createGiving({ roster, backend, audit }: ModelKeysDeps) {
  /** Whoever is awake thinks with the old one until it is told. */
  async function tell(user: User, rows: readonly AgentRow[], address: string): Promise<void> {
    const { call } = backend.as(user, address);
    const waiting = rows.values();
    const next = async (): Promise<void> => {
      for (const { id, ai_provider: aiProvider } of waiting)
        await reach(call(onBackend.agents.update, { params: { id }, body: { aiProvider } }));
    };
    await Promise.all(Array.from({ length: TOLD_AT_ONCE }, next));
  }

  return async (user: User, ids: readonly string[], key: OwnKey | null, address: string): Promise<AgentRow[]> => {
    const rows = await roster.of(user.id).giveKey(ids, key, (tx) =>
      audit(tx, {
        userId: user.id,
        action: key ? 'model-key-given' : 'model-key-taken',
        detail: { ...(key && { provider: key.provider }), agents: new Set(ids).size },
        ip: address,
      }),
    );
    await tell(user, rows, address);
    return rows;
  };
}

/** A person's own keys at providers. They are kept with the agents that think on them, sealed for each. */
export function createModelKeys(deps: ModelKeysDeps) {
  const { roster, backend } = deps;
  const give = createGiving(deps);

  async function keyOf(user: User, agentId: string): Promise<OwnKey> {
    const own = roster.of(user.id);
    const key = own.ownKey(await own.get(agentId));
    if (!key) throw new AppError(404, NO_OWN_KEY);
    return key;
  }

  return {
    async list(user: User): Promise<{ keys: ModelKey[] }> {
      const own = roster.of(user.id);
      const found = new Map<string, { key: OwnKey; rows: AgentRow[] }>();
      for (const row of await own.list()) {
        const key = own.ownKey(row);
        if (!key) continue;
        const id = `${key.provider} ${key.apiKey}`;
        const known = found.get(id);
        if (known) known.rows.push(row);
        else found.set(id, { key, rows: [row] });
      }
      return { keys: [...found.values()].map(({ key, rows }) => told(key, rows)) };
    },

    async give(user: User, { provider, apiKey, agentIds }: Body<'give'>, address: string) {
      const key = { provider, apiKey };
      return { key: told(key, await give(user, agentIds, key, address)) };
    },

    async share(user: User, { agentId, agentIds }: Body<'share'>, address: string) {
      const key = await keyOf(user, agentId);
      return { key: told(key, await give(user, agentIds, key, address)) };
    },

    async take(user: User, { agentIds }: Body<'take'>, address: string) {
      await give(user, agentIds, null, address);
      return { success: true as const };
    },

    async test(user: User, given: Body<'test'>) {
      const { provider, apiKey } = 'agentId' in given ? await keyOf(user, given.agentId) : given;
      const body = { kind: provider as ProviderKind, apiKey };
      return reach(backend.call(onBackend.providers.test, { body, timeout: TEST_MS }));
    },
  };
}
