import { createAccounts } from '@troupe/accounts';
import { type Runtime } from '@troupe/db';
import { testRuntime } from '@troupe/testing/database/runtime';
import { testUser } from '@troupe/testing/database/server';
import { closeAll, createServer, newId, type Env, type Outbound } from '@troupe/kernel';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { createLedger, USD, walletAccount } from '@troupe/ledger';
import { createRoster } from '@troupe/roster';
import { wireUnderground } from './wire.ts';
import type { Deliver } from './bus/delivery.ts';

export interface Person {
  id: string;
  headers: Record<string, string>;
}

interface Options {
  env?: Env;
  deliver?: Deliver;
  outbound?: Outbound;
  retries?: number;
}

/** The underground on a server of its own, with stand-ins for what lies outside of it. */
export async function startUnderground({ env, deliver = async () => {}, outbound, retries }: Options = {}) {
  const runtime = await testRuntime(env);
  const deps = { ...runtime, url: 'http://127.0.0.1:3001', version: '0.0.0-test' };
  const accounts = createAccounts(deps);
  const roster = createRoster({ db: runtime.db, clock: runtime.clock, sealKey: runtime.secrets.walletKey });
  const server = createServer({ service: 'backend', ...deps, accounts });
  const underground = wireUnderground(server, { ...deps, accounts, roster, deliver, outbound, retries });
  await runtime.jobs.start();
  const ledger = createLedger({ clock: runtime.clock });
  let calls = 0;

  async function ask(method: 'GET' | 'POST' | 'PUT', url: string, person: Person | null, body?: object, headers = {}) {
    // Another address each time: how often one may call is not what is tested here.
    const response = await server.app.inject({
      method,
      url,
      headers: { ...person?.headers, 'x-client-ip': `test-${(calls += 1)}`, ...headers },
      ...(body === undefined ? {} : { payload: body }),
    });
    // oxlint-disable-next-line typescript/no-explicit-any -- each test says what it reads of an answer
    return { status: response.statusCode, body: response.json() as any };
  }

  async function person(): Promise<Person> {
    const id = await testUser(runtime.db, newId(), { plan: 'solo', status: 'active' });
    const authorization = `Bearer ${TEST_SECRETS.internalKey}`;
    return { id, headers: { authorization, 'x-user-id': id, 'x-user-email': `${id}@example.com` } };
  }

  return {
    runtime,
    ledger,
    ask,
    person,
    agent: (owner: Person, config?: object) => addAgent(runtime, owner.id, config),
    /** Gives an address money, as a top-up does. */
    fund: (address: string, units: bigint) =>
      runtime.db.asSystem(async (tx) => {
        const account = walletAccount(address);
        await ledger.open(tx, [account, { id: 'test:source', asset: USD, allowNegative: true }]);
        await ledger.post(tx, {
          key: newId(),
          kind: 'fund',
          entries: [
            { account: 'test:source', amount: -units },
            { account: account.id, amount: units },
          ],
        });
      }),
    stop: () => closeAll([runtime, accounts, underground, server]),
  };
}

async function addAgent({ db }: Runtime, userId: string, config: object = {}): Promise<string> {
  const id = newId();
  await db.system.insertInto('agents').values({ id, user_id: userId, name: 'Agent', status: 'running' }).execute();
  await db.system
    .insertInto('agent_definitions')
    .values({ agent_id: id, user_id: userId, version: 1, definition: { config } })
    .execute();
  return id;
}
