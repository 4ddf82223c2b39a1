import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '@troupe/db';
import { memberToken } from '@troupe/roster';
import { newId, randomHex, sha256Hex, type Counters, type Env } from '@troupe/kernel';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { createSummarizer } from '@troupe/summarizer';
import { fund } from '@troupe/testing/money/fund';
import { person, provisioned, type Body, type Person } from '@troupe/testing/services/people';
import {
  addUser,
  startServices,
  type Services,
  type StartedServices,
  type TestUser,
} from '@troupe/testing/services/services';
import { addEvaluation } from './evaluation-rows.ts';
import { createMarks, type Marks } from './marks.ts';
import { addUserServer } from './server-rows.ts';
import { addFact } from './memory-rows.ts';
import { addRows, type RowIds } from './rows.ts';
import { addWidget } from './widget-rows.ts';

/** What a request can name of the owner's. */
export interface OwnerIds extends RowIds {
  userId: string;
  email: string;
  agentId: string;
  memberId: string;
  teamId: string;
  address: string;
  agentAddress: string;
  backupId: string;
  configBackupId: string;
  keyId: string;
  sessionId: string;
  taskId: string;
  triggerId: string;
  caseId: string;
  evaluationId: string;
  widgetId: string;
  widgetKey: string;
  visitorId: string;
  paymentSessionId: string;
  webhookId: string;
  deliveryId: string;
  collectionId: string;
  documentId: string;
  factId: string;
  skillId: string;
  reviewId: string;
  skillDigest: string;
  /** The name of an MCP server of the agent's. */
  mcpServer: string;
  /** One of all of the owner's agents. */
  userServer: string;
  userServerId: string;
}

/** Somebody with an agent, whose tokens are worth something: there. */
interface Stranger extends TestUser {
  agentId: string;
  gatewayToken: string;
  ticket: string;
  deviceToken: string;
  memberToken: string;
}

export interface World {
  shape: string;
  services: Services;
  summarizer: string;
  servers: StartedServices['servers'] & { summarizer: ReturnType<typeof createSummarizer> };
  marks: Marks;
  owner: Person & { cookie: string; expiredCookie: string };
  ids: OwnerIds;
  stranger: Stranger;
  admin: TestUser;
  /** A new session of this user: who signs out ends only that one. */
  cookieOf: (user: TestUser) => Promise<string>;
  deadKeys: { unknown: string; userGone: string };
  stop: () => Promise<void>;
}

export const SHAPES: Record<string, Env> = {
  loopback: {},
  production: { NODE_ENV: 'production', BASE_URL: 'https://troupe.example' },
};

const SESSION = 'svc-session=';
/** Agents do not get there, and need not look for it. */
export const NOWHERE = 'http://127.0.0.1:1/mcp';

/** Limits have their own tests, and would hide the answers here: nobody ever comes near one. */
const withoutLimits = (counters: Counters): Counters => ({
  ...counters,
  hit: (key, windowMs) => (key.startsWith('rate:') ? { count: 1, resetsInMs: windowMs } : counters.hit(key, windowMs)),
});

export async function createWorld(shape: string): Promise<World> {
  const services = await startServices({ TRUST_PROXY: '1', AI_SANDBOX: 'off', ...SHAPES[shape] }, withoutLimits);
  const { runtime } = services;
  const summarizer = createSummarizer({ ...runtime, url: 'http://127.0.0.1:3100' });
  const marks = createMarks();
  const stranger = await addStranger(services);
  const made = await addOwner(services, marks, stranger.id);
  const admin = await addUser(runtime, { plan: 'network', isAdmin: true });
  const gone = await addUser(runtime, { plan: 'network' });
  await runtime.db.system.deleteFrom('users').where('id', '=', gone.id).execute();
  return {
    shape,
    services,
    summarizer: await summarizer.listen(0, 'SUMMARIZER_PORT'),
    servers: { ...services.servers, summarizer },
    marks,
    ...made,
    stranger,
    admin,
    cookieOf: (user) => newSession(services, user.id, 3_600_000),
    deadKeys: { unknown: `sk_${randomHex(32)}`, userGone: gone.key },
    async stop() {
      await services.stop();
      await summarizer.close();
    },
  };
}

async function addStranger(services: Services): Promise<Stranger> {
  const { runtime } = services;
  const who = await person(services, { plan: 'network' });
  const agentId = await provisioned(who, { name: 'Stranger' });
  const { token } = await answered(who, 'GET', `/api/agents/${agentId}/token`);
  const { agent } = await answered(who, 'GET', `/api/agents/${agentId}`);
  const deviceToken = randomHex(32);
  const at = { first_seen: new Date(), last_seen: new Date() };
  const device = { id: newId(), user_id: who.id, agent_id: agentId, name: 'd', ip: '::1', ...at };
  await runtime.db.system
    .insertInto('devices')
    .values({ ...device, status: 'approved', secret_hash: sha256Hex('-'), token_hash: sha256Hex(deviceToken) })
    .execute();
  return {
    ...who,
    agentId,
    gatewayToken: token,
    ticket: new URL(agent.websocketUrl).searchParams.get('token') ?? '',
    deviceToken,
    memberToken: memberToken(TEST_SECRETS.sessionSecret, agentId),
  };
}

async function newSession({ runtime }: Services, userId: string, lifeMs: number): Promise<string> {
  const token = randomHex(32);
  const now = new Date();
  await runtime.db.system
    .insertInto('sessions')
    .values({
      id: newId(),
      user_id: userId,
      token_hash: sha256Hex(token),
      device: 'test',
      ip: '::1',
      created_at: now,
      last_seen_at: now,
      expires_at: new Date(now.getTime() + lifeMs),
    })
    .execute();
  return SESSION + token;
}

async function answered(who: Person, method: string, path: string, body?: unknown): Promise<Body> {
  const reply = await who.ask(method, path, body);
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body;
}

/** A skill that the agent has, and a next version of it that waits. */
async function addSkills(
  ask: (method: string, path: string, body?: unknown) => Promise<Body>,
  agentId: string,
  { mark }: Marks,
) {
  const review = (more: string): Promise<Body> => {
    const content = `---\nname: owned\ndescription: ${mark('skill')}\n---\n${mark('skillText')} ${more}\n`;
    return ask('POST', '/api/skills/reviews', { files: [{ path: 'SKILL.md', content }] });
  };
  const { id, digest } = await review('one');
  const skill = await ask('POST', `/api/skills/reviews/${id}/accept`, { digest });
  await ask('PUT', `/api/agents/${agentId}/skills/${skill.id}`, {});
  const waiting = await review('two');
  return { skillId: skill.id, reviewId: waiting.id, skillDigest: digest };
}

/** A passage as numbers, as an embeddings model would make them. */
async function addMeaning(db: Database, userId: string): Promise<void> {
  const { collection, number } = await db.system
    .selectFrom('knowledge_passages')
    .select(['collection', 'number'])
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  const place = { collection, number, user_id: userId };
  await db.system
    .insertInto('knowledge_meanings')
    .values({ ...place, generation: 0, bits: '10100101' })
    .execute();
  await db.system
    .insertInto('knowledge_vectors')
    .values({ ...place, vector: Buffer.alloc(8, 7) })
    .execute();
}

/** A collection that the agent may search, with a document in it that is read soon. */
async function addKnowledge(
  ask: (method: string, path: string, body?: unknown) => Promise<Body>,
  agentId: string,
  { mark }: Marks,
) {
  const { id } = await ask('POST', '/api/knowledge', {
    name: mark('collection'),
    description: mark('collectionAbout'),
  });
  const { id: documentId } = await ask('POST', `/api/knowledge/${id}/documents`, {
    name: mark('document'),
    text: `owned ${mark('documentText')}`,
  });
  await ask('PUT', `/api/agents/${agentId}/knowledge/${id}`, {});
  while ((await ask('GET', `/api/knowledge/documents/${documentId}`)).state === 'waiting') await delay(20);
  return { collectionId: id, documentId };
}

/** Somebody who has one of everything, with a mark wherever a text fits. */
async function addOwner(services: Services, marks: Marks, otherId: string) {
  const { mark, keep } = marks;
  const { db } = services.runtime;
  const who = await person(services, { plan: 'network' });
  const email = `${mark('email').toLowerCase()}@example.org`;
  const changed = {
    email,
    name: mark('person'),
    notifications: { note: mark('n') },
  };
  await db.system.updateTable('users').set(changed).where('id', '=', who.id).execute();
  const { cookie } = who.headers();
  await db.system
    .updateTable('sessions')
    .set({ device: mark('browser'), ip: mark('ip') })
    .where('user_id', '=', who.id)
    .execute();
  await db.system
    .updateTable('api_keys')
    .set({ name: mark('key'), preview: mark('preview') })
    .where('user_id', '=', who.id)
    .execute();
  const ask = (method: string, path: string, body?: unknown) => answered(who, method, path, body);

  const agentId = await provisioned(who, { name: mark('agent') });
  const at = `/api/agents/${agentId}`;
  await ask('PUT', `${at}/purpose`, { instruction: mark('instruction'), tools: ['memory', 'filesystem'] });
  await ask('PUT', `${at}/config`, { safety: { allowedDomains: [`${mark('domain')}.example`] } });
  await ask('POST', `${at}/verify`, { verificationType: 'eas', attestationUid: mark('attestation') });
  await ask('PUT', `${at}/payment-policy`, { perPayment: '47.11', payees: null });
  const mcpServer = mark('mcp');
  await ask('PUT', `${at}/mcp-servers/${mcpServer}`, { url: NOWHERE, headers: { 'x-key': marks.secret('mcpHeader') } });
  const mailbox = {
    address: `${mark('mailbox')}@test.example`,
    password: marks.secret('mailPassword'),
    smtpHost: '127.0.0.1',
  };
  await ask('PUT', `${at}/channels/email`, { settings: mailbox, allowed: [`${mark('writer')}@test.example`] });
  const team = await ask('POST', '/api/provision/team', {
    plan: 'network',
    customAgents: [member('one'), member('two')],
  });
  const config = { config: { version: '1', note: mark('config') } };
  await ask('POST', '/api/config', config);
  const { backupId: configBackupId } = await ask('POST', '/api/config', config);
  await ask('POST', '/api/memory', { agentId, key: mark('memoryKey'), memory: mark('memory') });
  await ask('POST', '/api/heartbeat', { agentId, frequency: '9d', enabled: true });
  const task = await ask('POST', '/api/scheduled-tasks', {
    name: mark('task'),
    description: mark('taskText'),
    prompt: mark('prompt'),
    agentId,
    cronSchedule: '0 0 1 1 *',
  });
  const hooked = await ask('POST', `/api/scheduled-tasks/${task.id}/triggers`, { kind: 'webhook' });
  const invite = await ask('POST', '/api/invite', { name: mark('invite') });
  await ask('PUT', '/api/usage/caps', { scope: 'agent', agentId, limitUsd: 4711 });
  const { address } = await ask('POST', '/api/wallet', { action: 'create' });
  await fund(db, address, 47_110_000n);
  const opened = await ask('POST', '/api/wallet/sessions', { address, deposit: '11.00' });
  const agentWallet = await ask('POST', '/api/underground/wallets', { agentId });
  const { backup } = await ask('POST', `${at}/backups`);
  const hook = { url: `https://${mark('host')}.test/`, events: ['payment.failed'] };
  const { webhook, secret } = await ask('POST', '/api/webhooks', hook);
  const deliveryId = `msg_${newId()}`;
  await db.system
    .insertInto('webhook_deliveries')
    .values({
      id: deliveryId,
      endpoint_id: webhook.id,
      user_id: who.id,
      type: 'payment.failed',
      data: '{}',
      at: new Date(),
      queued_at: new Date(),
      ended_at: new Date(),
      status: 'delivered',
    })
    .execute();
  const skills = await addSkills(ask, agentId, marks);
  const knowledge = await addKnowledge(ask, agentId, marks);
  const { token } = await ask('GET', `${at}/token`);
  const { agent } = await ask('GET', at);

  keep('session', cookie.slice(SESSION.length));
  keep('key', who.key);
  keep('gateway token', token);
  keep('ticket', new URL(agent.websocketUrl).searchParams.get('token') ?? '');
  keep('invite', invite.token);
  keep('webhook secret', secret);
  keep('trigger secret', hooked.secret);
  await db.system
    .insertInto('knowledge_sources')
    .values({ document_id: knowledge.documentId, user_id: who.id, content: Buffer.from(marks.mark('source')) })
    .execute();
  await addMeaning(db, who.id);
  const rows = await addRows(db, { userId: who.id, agentId, address, otherId }, marks);
  const expiredCookie = await newSession(services, who.id, -1000);
  const session = await db.system
    .selectFrom('sessions')
    .select('id')
    .where('user_id', '=', who.id)
    .where('expires_at', '>', new Date())
    .executeTakeFirstOrThrow();
  const key = await db.system
    .selectFrom('api_keys')
    .select('id')
    .where('user_id', '=', who.id)
    .executeTakeFirstOrThrow();
  const ids: OwnerIds = {
    ...rows,
    userId: who.id,
    email,
    agentId,
    memberId: team.agents[0].agentId,
    teamId: team.teamId,
    address,
    agentAddress: agentWallet.address ?? agentWallet.wallet.address,
    backupId: backup.id,
    configBackupId,
    keyId: key.id,
    sessionId: session.id,
    taskId: task.id,
    triggerId: hooked.trigger.id,
    ...(await addEvaluation(db, ask, mark, { userId: who.id, agentId })),
    ...(await addWidget(db, ask, mark, { userId: who.id, agentId, sessionId: rows.conversationId })),
    paymentSessionId: opened.session?.id ?? opened.id,
    webhookId: webhook.id,
    deliveryId,
    ...skills,
    ...knowledge,
    ...(await addFact(db, { userId: who.id, agentId, conversationId: rows.conversationId }, marks)),
    mcpServer,
    ...(await addUserServer(db, ask, marks, { userId: who.id, agentId, url: NOWHERE })),
  };
  for (const name of ['userId', 'keyId', 'sessionId', 'teamId', 'conversationId'] as const) keep(name, ids[name]);
  return { owner: { ...who, email, cookie, expiredCookie }, ids };

  function member(name: string) {
    return {
      name,
      role: mark('role'),
      description: mark('description'),
      instruction: mark('memberInstruction'),
      model: 'xiaomi/mimo-v2-pro',
      tools: ['memory'],
      memoryShared: true,
    };
  }
}
