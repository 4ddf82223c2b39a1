import { newId, randomHex } from '@troupe/kernel';
import { CARD_PROCESSOR, createLedger, walletAccount } from '@troupe/ledger';
import { signedIn, type Person, type TestWeb } from '../testing.ts';

export const PAYEE = '0x00000000000000000000000000000000000000ee';
export const SOLANA = 'So11111111111111111111111111111111111111112';

export type Headers = Record<string, string>;

export function client(web: TestWeb) {
  const ask = async (method: 'GET' | 'POST' | 'PUT', url: string, payload?: object, headers: Headers = {}) => {
    const answer = await web.server.app.inject({ method, url, payload, headers });
    return { status: answer.statusCode, body: answer.json() };
  };
  const ledger = createLedger({ clock: web.deps.clock });
  return {
    ask,
    act: (body: object, headers?: Headers) => ask('POST', '/api/paygate', body, headers),
    balance: async (account: string) => (await ledger.balance(web.deps.db.system, account)).balance,
    async agent(person: Person): Promise<string> {
      const id = newId();
      await web.deps.db.system.insertInto('agents').values({ id, user_id: person.id, name: 'A' }).execute();
      return id;
    },
    async funded(units: bigint): Promise<{ person: Person; address: string }> {
      const person = await signedIn(web);
      const { address } = (await ask('POST', '/api/wallet', { action: 'create' }, person.headers)).body;
      await web.deps.db.asSystem(async (tx) => {
        await ledger.open(tx, [CARD_PROCESSOR, walletAccount(address)]);
        await ledger.post(tx, {
          key: randomHex(8),
          kind: 'top-up',
          entries: [
            { account: CARD_PROCESSOR.id, amount: -units },
            { account: walletAccount(address).id, amount: units },
          ],
        });
      });
      return { person, address };
    },
    audited: async (person: Person) =>
      (await web.deps.db.system
        .selectFrom('audit_log')
        .select(['action', 'detail'])
        .where('user_id', '=', person.id)
        .where('action', 'like', 'paygate.%')
        .orderBy('id')
        .execute()) as { action: string; detail: Record<string, unknown> }[],
  };
}
