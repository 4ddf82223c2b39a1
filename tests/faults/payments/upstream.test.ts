import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { randomHex } from '@troupe/kernel';
import { addUser, startServices } from '@troupe/testing/services/services';
import { killAtEveryStep, startChild } from './killing.ts';
import { startPlugin } from './stand-ins.ts';

/** A payment gateway elsewhere: it counts what it was asked to pay, and says yes. */
const gateway = await startPlugin();
const env = { PAYGATE_URL: gateway.url };
/** Another process, which lives on. */
const services = await startServices(env);
const { runtime } = services;
after(async () => {
  await services.stop();
  gateway.close();
});

test('a payment by a gateway elsewhere: asked for once, and what is not known to be paid is called unknown', (t) =>
  killAtEveryStep(t, runtime, {
    start: (databaseUrl) => startChild('web', runtime, { ...env, DATABASE_URL: databaseUrl }),
    async prepare() {
      gateway.calls = 0;
      return addUser(runtime);
    },
    work: (child, { key }) =>
      child.ask(
        'POST',
        '/api/paygate',
        { action: 'pay', agentId: 'mine', amount: 1, recipient: `0x${randomHex(20)}` },
        { authorization: `Bearer ${key}` },
      ),
    async check({ id }, answer) {
      const rows = await runtime.db.user(id).selectFrom('agent_payments').select('status').execute();
      const state = rows[0]?.status;
      assert.ok(rows.length <= 1 && gateway.calls <= 1);
      if (answer?.status === 200) assert.equal(state, 'paid');
      if (gateway.calls === 1) assert.ok(state === 'paid' || state === 'unknown', state);
      else assert.ok(state === undefined || state === 'unknown', state);
    },
    moments: { 'while the gateway pays': (kill) => void (gateway.onCall = kill) },
    disarm: () => void (gateway.onCall = () => {}),
  }));
