import assert from 'node:assert/strict';
import { signBusMessage, walletProofMessage } from '@troupe/chain';
import { newId } from '@troupe/kernel';
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts';
import type { Person, startUnderground } from './testing.ts';

export interface Party {
  person: Person;
  agentId: string;
  account: PrivateKeyAccount;
}

/** Agents that send each other messages. */
export function createParties(world: Awaited<ReturnType<typeof startUnderground>>) {
  /** An agent with an own wallet. */
  async function party(given: { person?: Person; config?: object; door?: 'closed' } = {}): Promise<Party> {
    const person = given.person ?? (await world.person());
    const agentId = await world.agent(person, given.config);
    const account = privateKeyToAccount(generatePrivateKey());
    const { address } = account;
    const proof = await account.signMessage({ message: walletProofMessage(address, agentId) });
    const { status } = await world.ask('POST', '/api/underground/wallets', person, { agentId, address, proof });
    assert.equal(status, 201);
    // Most of what is tested here is between strangers; the door has tests of its own.
    if (given.door !== 'closed') await setDoor({ person, agentId }, { open: true, messagesPerSender: 1000 });
    return { person, agentId, account };
  }

  const setDoor = async ({ person, agentId }: Pick<Party, 'person' | 'agentId'>, door: object) => {
    const answer = await world.ask('PUT', `/api/underground/doors/${agentId}`, person, door);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body;
  };

  const unsigned = (from: Party, to: Party, action: string, payload: unknown, given: object = {}) => ({
    version: '1.0',
    messageId: newId(),
    timestamp: new Date().toISOString(),
    from: { agentId: from.agentId, walletAddress: from.account.address },
    to: { agentId: to.agentId },
    action,
    payload,
    ...given,
  });

  async function signed(from: Party, to: Party, action: string, payload: unknown, given: object = {}) {
    const message = unsigned(from, to, action, payload, given);
    return { ...message, signature: await signBusMessage(from.account, message) };
  }

  const send = (message: object) => world.ask('POST', '/api/underground/bus/send', null, message);

  async function sent(from: Party, to: Party, action: string, payload: unknown) {
    return send(await signed(from, to, action, payload));
  }

  const logOf = async ({ person }: Party, messageId: string) =>
    (await world.ask('GET', '/api/underground/bus/messages', person)).body.messages.find(
      (message: { messageId: string }) => message.messageId === messageId,
    );

  const ended = (who: Party, messageId: string) =>
    until(async () => {
      const found = await logOf(who, messageId);
      return found?.status === 'queued' ? undefined : found;
    }, `the end of ${messageId}`);

  return { party, setDoor, unsigned, signed, send, sent, logOf, ended };
}

export async function until<T>(read: () => Promise<T | undefined> | T | undefined, what: string): Promise<T> {
  const end = Date.now() + 30_000;
  for (;;) {
    const found = await read();
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
