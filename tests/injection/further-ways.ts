import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { docx, pdf, pptx, xlsx } from '@troupe/testing/documents/documents';
import { asked, html, type Way } from './ways.ts';
import type { World } from './world.ts';

/** Further ways in: documents that are no text, and the protocols of programs. */

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** The same words as each program writes them. */
const DOCUMENTS: Readonly<Record<string, (text: string) => Buffer>> = {
  pdf: (text) => pdf([text]),
  docx: (text) => docx(...text.split('\n').map(escaped)),
  xlsx: (text) => xlsx({ Sheet: text.split('\n').map((line) => [escaped(line)]) }),
  pptx: (text) => pptx(['Slide', ...text.split('\n').map(escaped)]),
  html: (text) => Buffer.from(html(text)),
  eml: (text) => Buffer.from(`From: bo@friends.example\r\nSubject: Papers\r\n\r\n${text}`),
};

async function putBytes(world: World, method: string, path: string, bytes: Buffer): Promise<void> {
  const stored = await fetch(world.services.web + path, {
    method,
    headers: { ...world.owner.headers(), 'content-type': 'application/octet-stream' },
    body: new Uint8Array(bytes),
  });
  assert.equal(stored.status, 201, await stored.text());
}

const attached = (kind: string): Way => ({
  async bring(world, text, n) {
    const at = `/api/agents/${world.agentId}`;
    const path = `papers-${n}.${kind}`;
    await putBytes(world, 'PUT', `${at}/files/content?path=${path}`, DOCUMENTS[kind]!(text));
    const body = { message: 'What does it say?', topic: `attached ${kind} ${n}`, attachments: [path] };
    await asked(world, 'POST', `${at}/messages`, body);
  },
});

/** `add` puts the text into a collection, under a name that has the word "invoice" in it. */
const indexed = (kind: string, add: (world: World, id: string, text: string, n: number) => Promise<unknown>): Way => ({
  async bring(world, text, n) {
    const before = world.obeyed.size;
    const { id } = await asked(world, 'POST', '/api/knowledge', { name: `${kind} ${n}` });
    await add(world, id, `Invoice ${n}. ${text}`, n);
    const first = async () => (await asked(world, 'GET', `/api/knowledge/${id}/documents`)).documents[0];
    while ((await first()).state === 'waiting') await delay(30);
    assert.equal((await first()).state, 'ready', JSON.stringify(await first()));
    const given = `/api/agents/${world.agentId}/knowledge/${id}`;
    await asked(world, 'PUT', given, {});
    const search = { tool: 'search_knowledge', args: { query: `invoice ${n}` } };
    await world.say(`indexed ${kind} ${n}`, search, { say: 'done' });
    while (world.obeyed.size === before) await delay(20);
    await asked(world, 'DELETE', given);
  },
});
const asFile = (kind: string): Way =>
  indexed(kind, (world, id, text) =>
    putBytes(world, 'POST', `/api/knowledge/${id}/documents/file?name=invoice.${kind}`, DOCUMENTS[kind]!(text)),
  );

/** A program that talks to the agent with its token. */
async function told({ services, owner, agentId }: World, path: string, body: object): Promise<Response> {
  const { token } = (await owner.ask('GET', `/api/agents/${agentId}/token`)).body as { token: string };
  return fetch(`${services.backend}/api/runtime/proxy/${agentId}/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

const byA2a = (partOf: (text: string) => object): Way => ({
  async bring(world, text, n) {
    const message = { role: 'ROLE_USER', messageId: `a2a ${n} ${text.length}`, parts: [partOf(text)] };
    const params = {
      message: { ...message, contextId: crypto.randomUUID() },
      configuration: { returnImmediately: true },
    };
    const said = await told(world, 'a2a', { jsonrpc: '2.0', id: 1, method: 'SendMessage', params });
    const answer = (await said.json()) as { result?: object };
    assert.ok(answer.result, JSON.stringify(answer));
  },
});

export const FURTHER_WAYS: Readonly<Record<string, Way>> = {
  ...Object.fromEntries(Object.keys(DOCUMENTS).map((kind) => [`attached${kind}`, attached(kind)])),
  indexedpdf: asFile('pdf'),
  indexeddocx: asFile('docx'),
  indexedxlsx: asFile('xlsx'),
  indexedhtml: asFile('html'),
  a2a: byA2a((text) => ({ text })),
  a2adata: byA2a((text) => ({ data: { note: text } })),
  a2afile: byA2a((text) => ({ raw: DOCUMENTS['docx']!(text).toString('base64'), filename: 'papers.docx' })),
  agui: {
    async bring(world, text, n) {
      const messages = [{ id: `m${n}`, role: 'user', content: text }];
      const ids = { threadId: `agui-${n}`, runId: crypto.randomUUID() };
      const said = await told(world, 'ag-ui', { ...ids, messages, tools: [], context: [], state: {} });
      assert.equal(said.status, 200);
      // What comes of it goes on without somebody who listens.
      await said.body?.cancel();
    },
  },
  /** What the page of an AG-UI client shows is somebody's, too. */
  aguipage: {
    async bring(world, text, n) {
      const messages = [{ id: `m${n}`, role: 'user', content: 'What is on the page?' }];
      const ids = { threadId: `aguipage-${n}`, runId: crypto.randomUUID() };
      const context = [{ description: 'The page', value: text }];
      const said = await told(world, 'ag-ui', { ...ids, messages, tools: [], context, state: {} });
      assert.equal(said.status, 200);
      await said.body?.cancel();
    },
  },
};
