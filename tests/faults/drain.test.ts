import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { startScene } from '@troupe/testing/attacks/scene';

/** A stop lets answers that are under way arrive, takes nobody new, and waits for nobody who only listens. */

const follow = (url: string, cookie: string): Promise<{ ended: Promise<void> }> =>
  new Promise((resolve, reject) => {
    const asked = request(url, { headers: { cookie, accept: 'text/event-stream' } }, (answer) => {
      const ended = new Promise<void>((over) => answer.once('close', () => over()));
      answer.on('error', () => {}).resume();
      resolve({ ended });
    });
    asked.on('error', reject);
    asked.end();
  });

test('an answer under way arrives, and whoever comes later is refused', async (t) => {
  const scene = await startScene({ STOP_WAIT_SECONDS: '60' });
  t.after(scene.stop);
  const { web, backend, summarizer, director, bystander, attacker, program } = scene;
  for (const service of [web, backend, summarizer]) {
    const ready = await fetch(`${service}/ready`);
    assert.deepEqual([ready.status, await ready.json()], [200, { ready: true }]);
  }
  const plain = bystander.chat({ wait: 'plain', say: 'the whole answer' });
  await director.waits('plain');
  const streamed = fetch(`${web}/api/chat`, {
    method: 'POST',
    headers: { cookie: attacker.cookie, 'content-type': 'application/json', accept: 'text/event-stream', origin: web },
    body: JSON.stringify({
      agentId: attacker.agentId,
      message: JSON.stringify([{ wait: 'stream', say: 'word by word' }]),
    }),
  }).then((answer) => answer.text());
  await director.waits('stream');
  const { ended } = await follow(`${web}/api/notices`, bystander.cookie);
  program.kill('SIGTERM');
  await ended;
  await assert.rejects(fetch(`${web}/health`));
  director.go('plain');
  director.go('stream');
  const { status, body } = await plain;
  assert.deepEqual([status, body.reply], [200, 'the whole answer'], JSON.stringify(body));
  assert.match(await streamed, /word by word/);
  assert.deepEqual(await program.exit, { code: 0, signal: null }, program.output());
});

test('what takes longer than the wait is ended', async (t) => {
  const scene = await startScene({ STOP_WAIT_SECONDS: '1' });
  t.after(scene.stop);
  const { director, bystander, program } = scene;
  const slow = bystander.chat({ wait: 'for ever' }).then(
    ({ status }) => status,
    () => 'cut',
  );
  await director.waits('for ever');
  program.kill('SIGTERM');
  assert.notEqual(await slow, 200);
  assert.deepEqual(await program.exit, { code: 0, signal: null }, program.output());
});
