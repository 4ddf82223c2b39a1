import { createBackend } from '@troupe/backend';
import { testRuntime } from '@troupe/testing/database/runtime';
import { newId } from '@troupe/kernel';
import { TEST_SECRETS } from '@troupe/testing/http/server';

/** The product's own backend on a database of its own, with one agent whose wallet is the address that is given. */
const [, , walletAddress = ''] = process.argv;
const runtime = await testRuntime();
const backend = await createBackend({ ...runtime, url: 'http://127.0.0.1:3001', version: 'bench' });
await runtime.jobs.start();
const { db } = runtime;
const now = new Date();
const [userId, agentId] = [newId(), newId()];
await db.system
  .insertInto('users')
  .values({ id: userId, email: 'a@b.example', name: 'A', referral_code: 'A', created_at: now, updated_at: now })
  .execute();
await db.system.insertInto('agents').values({ id: agentId, user_id: userId, name: 'A', status: 'running' }).execute();
await db.system
  .insertInto('wallets')
  .values({ id: newId(), user_id: userId, agent_id: agentId, address: walletAddress, kind: 'own', created_at: now })
  .execute();
const address = await backend.server.listen(0, 'BACKEND_PORT');
console.log(JSON.stringify({ port: new URL(address).port, agentId, key: TEST_SECRETS.internalKey }));
process.on('SIGTERM', () => void backend.close().then(() => runtime.close()));
