import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '@troupe/kernel';
import { skillMd, zipOf } from '@troupe/testing/backups/archives';
import { needs } from '@troupe/testing/machine/needs';
import { steps } from '@troupe/testing/services/director';
import { askBackend, provisioned, send } from '@troupe/testing/services/people';
import type { Goal } from './goals.ts';
import { SECRETS, type World } from './world.ts';

/** Every way in which words of others reach a model. */

export interface Way {
  /** Puts the text where an agent comes across it, and lets it. `n` is another one each time. */
  bring: (world: World, text: string, n: number) => Promise<void>;
  /** How many goals a text has room for; all unless said. */
  room?: number;
  /** What must come of a goal, where it is not what the victim's own rules say. */
  comes?: (goal: string) => Goal['comes'];
  skip?: string | false;
}

const done = { say: 'done' };

export async function asked(world: World, method: string, path: string, body?: unknown) {
  const answer = await world.owner.ask(method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

async function putFile({ services, owner, agentId }: World, path: string, text: string): Promise<void> {
  const stored = await fetch(`${services.web}/api/agents/${agentId}/files/content?path=${encodeURIComponent(path)}`, {
    method: 'PUT',
    headers: { ...owner.headers(), 'content-type': 'application/octet-stream' },
    body: text,
  });
  assert.equal(stored.status, 201, await stored.text());
}

/** Each order as the name of a file, with the beginning of how it is said; a name has 255 bytes at most. */
const namesIn = (text: string): string[] => {
  const [head = '', ...lines] = text.split('\n');
  const orders = lines.filter((line) => line.includes('[order '));
  return orders.map((line) => `${head.slice(0, 60)} ${line}.txt`.replaceAll('/', '∕'));
};

export const html = (text: string): string =>
  `<!doctype html><title>News</title><p>${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('\n', '</p><p>')}</p>`;

/** The channel's webhook, as the service calls it. */
async function hookOf(world: World, kind: string, body: object): Promise<string> {
  const path = `/api/agents/${world.agentId}/channels`;
  const { channels } = await asked(world, 'GET', path);
  const known = channels.find((one: { kind: string }) => one.kind === kind);
  const channel = known.isSet ? known : (await asked(world, 'PUT', `${path}/${kind}`, body)).channel;
  return world.services.backend + new URL(channel.webhook).pathname;
}

/** A channel opens a moment after it was set. */
async function posted(url: string, request: RequestInit): Promise<void> {
  for (let tries = 0; ; tries++) {
    const answer = await fetch(url, { method: 'POST', ...request });
    if (answer.status === 200) return;
    assert.ok(tries < 200, `${answer.status} ${await answer.text()}`);
    await delay(50);
  }
}

async function talked(world: World, text: string, abilities: string): Promise<void> {
  const { services, agentId } = world;
  const path = `/api/agents/${agentId}/widgets`;
  const { widget } = await asked(world, 'POST', path, { origins: ['https://shop.example'], abilities });
  const at = (what: string, body: object, token?: string) =>
    send(`${services.web}/api/widgets/${widget.publicKey}/${what}`, 'POST', body, {
      origin: 'https://shop.example',
      'x-forwarded-for': '203.0.113.7',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    });
  const came = await at('visitors', {});
  assert.equal(came.status, 200, JSON.stringify(came.body));
  const said = await at('messages', { message: text }, came.body.token);
  assert.equal(said.status, 202, JSON.stringify(said.body));
}

export const WAYS: Readonly<Record<string, Way>> = {
  page: {
    async bring({ pages, site, say }, text, n) {
      pages.set(`/fetched-${n}`, html(text));
      await say(`page ${n}`, { tool: 'fetch', args: { url: `${site.url}/fetched-${n}` } }, done);
    },
  },
  browser: {
    skip: needs('chromium', 'bubblewrap'),
    async bring({ pages, site, say }, text, n) {
      pages.set(`/opened-${n}`, html(text));
      await say(`browser ${n}`, { tool: 'browser_open', args: { url: `${site.url}/opened-${n}` } }, done);
    },
  },
  file: {
    async bring(world, text, n) {
      await putFile(world, `read-${n}.txt`, text);
      await world.say(`file ${n}`, { tool: 'read_file', args: { path: `read-${n}.txt` } }, done);
    },
  },
  shell: {
    skip: needs('bubblewrap'),
    async bring(world, text, n) {
      await putFile(world, `out-${n}.txt`, text);
      await world.say(`shell ${n}`, { tool: 'shell', args: { cmd: `cat out-${n}.txt` } }, done);
    },
  },
  attachment: {
    async bring(world, text, n) {
      await putFile(world, `given-${n}.txt`, text);
      const body = { message: 'What does it say?', topic: `attachment ${n}`, attachments: [`given-${n}.txt`] };
      await asked(world, 'POST', `/api/agents/${world.agentId}/messages`, body);
    },
  },
  filename: {
    async bring(world, text, n) {
      for (const name of namesIn(text)) await putFile(world, `names-${n}/${name}`, 'Nothing.');
      await world.say(`filename ${n}`, { tool: 'list_directory', args: { path: `names-${n}` } }, done);
    },
  },
  attachedname: {
    room: 5,
    async bring(world, text, n) {
      const attachments = namesIn(text).map((name) => `given-${n}/${name}`);
      for (const path of attachments) await putFile(world, path, 'Nothing.');
      const body = { message: 'What is this?', topic: `attached ${n} ${attachments[0]}`.slice(0, 100), attachments };
      await asked(world, 'POST', `/api/agents/${world.agentId}/messages`, body);
    },
  },
  mcp: {
    async bring({ notes, say }, text, n) {
      notes.says = text;
      await say(`mcp ${n}`, { tool: 'notes_read', args: { n } }, done);
    },
  },
  offer: {
    // Descriptions are cut at 1,000 characters.
    room: 5,
    async bring(world, text, n) {
      const before = world.obeyed.size;
      const path = `/api/agents/${world.agentId}/mcp-servers/offer${n}${before}`;
      world.notes.described = text;
      await asked(world, 'PUT', path, { url: world.notes.url, headers: { 'x-key': SECRETS.notes } });
      await world.say(`offer ${n} ${before}`, done);
      while (world.obeyed.size === before) await delay(20);
      world.notes.described = 'Reads the notes.';
      await asked(world, 'DELETE', path);
    },
  },
  knowledge: {
    async bring(world, text, n) {
      const before = world.obeyed.size;
      const { id } = await asked(world, 'POST', '/api/knowledge', { name: `Papers ${n}` });
      await asked(world, 'POST', `/api/knowledge/${id}/documents`, { name: 'Invoice', text: `Invoice ${n}. ${text}` });
      const state = async () => (await asked(world, 'GET', `/api/knowledge/${id}/documents`)).documents[0].state;
      while ((await state()) === 'waiting') await delay(30);
      const given = `/api/agents/${world.agentId}/knowledge/${id}`;
      await asked(world, 'PUT', given, {});
      await world.say(`knowledge ${n}`, { tool: 'search_knowledge', args: { query: `invoice ${n}` } }, done);
      while (world.obeyed.size === before) await delay(20);
      await asked(world, 'DELETE', given);
    },
  },
  skill: {
    async bring(world, text, n) {
      const name = `billing-${n}`;
      // What it says that it may use is a wish, and no right.
      const content = skillMd(name, text, 'allowed-tools: shell write_file bank_pay delete_file run_code\n');
      const review = await asked(world, 'POST', '/api/skills/reviews', {
        files: [{ path: `${name}/SKILL.md`, content }],
      });
      const skill = await asked(world, 'POST', `/api/skills/reviews/${review.id}/accept`, { digest: review.digest });
      await asked(world, 'PUT', `/api/agents/${world.agentId}/skills/${skill.id}`, { digest: review.digest });
      await world.say(`skill ${n}`, { tool: 'activate_skill', args: { name } }, done);
    },
  },
  memory: {
    async bring(world, text, n) {
      const { agentId } = world;
      await asked(world, 'POST', '/api/memory', { agentId, key: `supplier${n}`, memory: `Supplier${n}: ${text}` });
      const body = { message: `What do you know of supplier${n}?`, topic: `memory ${n}` };
      await asked(world, 'POST', `/api/agents/${agentId}/messages`, body);
    },
  },
  mail: {
    async bring(world, text, n) {
      const settings = { address: 'ada@test.example', password: SECRETS.mail, smtpHost: 'smtp.test.example' };
      const hook = await hookOf(world, 'email', { settings, allowed: ['@friends.example'] });
      const head = `From: bo@friends.example\r\nTo: ada@test.example\r\nSubject: Invoice ${n}\r\nMessage-ID: <m${n}@friends.example>`;
      const type = 'Content-Type: text/plain; charset=utf-8';
      const body = `${head}\r\n${type}\r\n\r\n${text.replaceAll('\n', '\r\n')}\r\n`;
      await posted(hook, { body, headers: { 'content-type': 'message/rfc822' } });
    },
  },
  mailfile: {
    async bring(world, text, n) {
      const settings = { address: 'ada@test.example', password: SECRETS.mail, smtpHost: 'smtp.test.example' };
      const hook = await hookOf(world, 'email', { settings, allowed: ['@friends.example'] });
      const body = [
        'From: bo@friends.example',
        'To: ada@test.example',
        `Subject: Papers ${n}`,
        `Message-ID: <f${n}@friends.example>`,
        'Content-Type: multipart/mixed; boundary=part',
        '',
        '--part',
        'Content-Type: text/plain; charset=utf-8',
        '',
        'See the file.',
        '--part',
        'Content-Type: text/plain; charset=utf-8',
        `Content-Disposition: attachment; filename="paper-${n}.txt"`,
        'Content-Transfer-Encoding: base64',
        '',
        Buffer.from(text)
          .toString('base64')
          .replaceAll(/(.{76})/g, '$1\r\n'),
        '--part--',
        '',
      ].join('\r\n');
      await posted(hook, { body, headers: { 'content-type': 'message/rfc822' } });
    },
  },
  apifile: {
    async bring(world, text, n) {
      const { services, agentId } = world;
      const { token } = await asked(world, 'GET', `/api/agents/${agentId}/token`);
      const file = {
        filename: `api-${n}.txt`,
        file_data: `data:text/plain;base64,${Buffer.from(text).toString('base64')}`,
      };
      const content = [
        { type: 'text', text: 'What does it say?' },
        { type: 'file', file },
      ];
      const said = await send(
        `${services.backend}/api/runtime/proxy/${agentId}/v1/chat/completions`,
        'POST',
        { messages: [{ role: 'user', content }] },
        { authorization: `Bearer ${token}` },
      );
      assert.equal(said.status, 200, JSON.stringify(said.body));
    },
  },
  question: {
    async bring(world, text, n) {
      const { agentId, notes, owner } = world;
      notes.says = text;
      await world.say(`question ${n}`, { tool: 'notes_ask', args: { n } }, done);
      for (;;) {
        const { items } = await asked(world, 'GET', '/api/inbox');
        const waiting = items.find((one: { tool?: string }) => one.tool === 'notes_ask');
        if (!waiting) {
          await delay(30);
          continue;
        }
        const path = `/api/agents/${agentId}/approvals/${waiting.id}`;
        const decided = await owner.ask('POST', path, { approved: true, answer: 'yes' });
        assert.ok(decided.status < 300, JSON.stringify(decided.body));
        world.answered += 1;
        return;
      }
    },
  },
  store: {
    async bring(world, text, n) {
      const { services, owner, agentId } = world;
      const make = async (path: string, body: object) => {
        const made = await askBackend(services, 'POST', path, body, { 'x-user-id': owner.id });
        assert.equal(made.status, 200, `${path}: ${JSON.stringify(made.body)}`);
        return made.body;
      };
      const { id: store } = await make('/v1/memory_stores', { name: `store ${n}` });
      await make(`/v1/memory_stores/${store}/memories`, { path: '/a.md', content: text });
      const { id: environment } = await make('/v1/environments', { name: 'here' });
      const resources = [{ type: 'memory_store', memory_store_id: store }];
      const { id } = await make('/v1/sessions', { agent: agentId, environment_id: environment, resources });
      const read = { tool: 'read_memory_file', args: { store: `store ${n}`, path: '/a.md' } };
      const content = [{ type: 'text', text: steps(read, done) }];
      await make(`/v1/sessions/${id}/events`, { events: [{ type: 'user.message', content }] });
    },
  },
  channel: {
    async bring(world, text, n) {
      const settings = { token: 'T0KEN', appSecret: SECRETS.app };
      const hook = await hookOf(world, 'whatsapp', { settings, allowed: ['491230', '491231', '491232', '491233'] });
      const timestamp = String(Math.floor(Date.now() / 1000));
      const message = { id: `wamid.${n}`, from: `49123${n}`, timestamp, type: 'text', text: { body: text } };
      const value = {
        messaging_product: 'whatsapp',
        metadata: { phone_number_id: '111' },
        messages: [message],
      };
      const entry = [{ id: 'x', changes: [{ field: 'messages', value }] }];
      const body = JSON.stringify({ object: 'whatsapp_business_account', entry });
      const signature = `sha256=${createHmac('sha256', SECRETS.app).update(body).digest('hex')}`;
      await posted(hook, {
        body,
        headers: { 'content-type': 'application/json', 'x-hub-signature-256': signature },
      });
    },
  },
  /** Whoever writes is a stranger: no tool exists for such a run. */
  visitor: { comes: () => 'no tool', bring: (world, text) => talked(world, text, 'answers') },
  guest: { bring: (world, text) => talked(world, text, 'all') },
  bus: {
    async bring(world, text, n) {
      const { services, owner, agentId } = world;
      const from = await provisioned(owner, { name: `Other ${n}` });
      await asked(world, 'POST', '/api/underground/wallets', { agentId: from });
      await asked(world, 'PUT', `/api/underground/doors/${agentId}`, { open: true });
      const unsigned = {
        version: '1.0',
        messageId: newId(),
        timestamp: new Date().toISOString(),
        from: { agentId: from },
        to: { agentId },
        action: 'HELLO',
        payload: { text },
      };
      const { message } = await asked(world, 'POST', '/api/underground/bus/sign', { message: unsigned });
      const sent = await send(`${services.web}/api/underground/bus/send`, 'POST', message);
      assert.equal(sent.status, 200, JSON.stringify(sent.body));
    },
  },
  trigger: {
    async bring(world, text, n) {
      const { services, agentId } = world;
      const body = { name: `T${n}`, cronSchedule: '@triggered', prompt: 'Read what came.', agentId };
      const task = await asked(world, 'POST', '/api/scheduled-tasks', body);
      const { trigger, secret } = await asked(world, 'POST', `/api/scheduled-tasks/${task.id}/triggers`, {
        kind: 'webhook',
      });
      const hook = await fetch(`${services.web}/api/hooks/${trigger.id}`, {
        method: 'POST',
        body: text,
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'text/plain' },
      });
      assert.equal(hook.status, 202, await hook.text());
    },
  },
  /** An agent of somebody else's making: what it is shown with every call was written by them, what it may do stands in its list. */
  import: {
    comes: (goal) => (goal === 'escape' ? 'refused' : 'no tool'),
    async bring({ services, owner }, text, n) {
      const bundle = zipOf([
        { path: 'openclaw.json', content: JSON.stringify({ tools: { allow: ['read'] } }) },
        { path: 'AGENTS.md', content: 'You read what you are given.' },
        { path: 'MEMORY.md', content: text },
      ]);
      const made = await fetch(`${services.web}/api/imports?name=agent-${n}.zip`, {
        method: 'POST',
        headers: { ...owner.headers(), 'content-type': 'application/octet-stream' },
        body: new Uint8Array(bundle),
      });
      const { agents } = (await made.json()) as { agents: { agentId: string }[] };
      assert.equal(made.status, 201);
      const said = await owner.ask('POST', `/api/agents/${agents[0]!.agentId}/messages`, { message: 'Hello' });
      assert.equal(said.status, 202, JSON.stringify(said.body));
    },
  },
};
