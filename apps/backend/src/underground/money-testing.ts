import assert from 'node:assert/strict';
import { verifyLedger, walletAccount } from '@troupe/ledger';
import type { Person, startUnderground } from './testing.ts';

export interface Holder {
  person: Person;
  agentId: string;
  address: string;
  balance: () => Promise<bigint>;
}

/** People whose agents have money. */
export function createHolders(world: Awaited<ReturnType<typeof startUnderground>>) {
  const { db } = world.runtime;

  /** A person with an agent that has a wallet with that much in it. */
  async function party(units = 0n): Promise<Holder> {
    const person = await world.person();
    const agentId = await world.agent(person);
    const { body } = await world.ask('POST', '/api/underground/wallets', person, { agentId });
    const address = body.address as string;
    if (units > 0n) await world.fund(address, units);
    const balance = async () => (await world.ledger.balance(db.system, walletAccount(address).id)).balance;
    return { person, agentId, address, balance };
  }

  async function intact(): Promise<void> {
    const verdicts = await verifyLedger(db.system);
    assert.deepEqual(
      verdicts.filter(({ broken }) => broken.length > 0),
      [],
    );
  }

  return { party, intact };
}
