import { gateway, type web, type Client, type SessionHead, type SessionStep, type TypesOf } from '@troupe/contract';
import { createTouched } from '@troupe/domain';
import { newId, respond, type Answer, type BackendClient, type User } from '@troupe/kernel';
import type { Roster } from '@troupe/roster';
import { reach } from '../../platform/reach.ts';
import type { KnownModels } from '../models/service.ts';
import { stepsOf } from './service.ts';

export interface KeepingDeps {
  roster: Roster;
  backend: BackendClient;
  models: Pick<KnownModels, 'check'>;
}

export type KeepingService = ReturnType<typeof createKeeping>;

/** Conversations as people keep them. The agent itself keeps them all; web only checks whose it is. */
export function createKeeping({ roster, backend, models }: KeepingDeps) {
  const client = async (user: User, agentId: string, address: string) => {
    const agent = await roster.of(user.id).get(agentId);
    return { ...backend.as(user, address), agent };
  };

  return {
    async change(
      user: User,
      agentId: string,
      id: string,
      body: TypesOf<typeof web.conversations.change>['body'],
      from: string,
    ) {
      const { call } = await client(user, agentId, from);
      return reach(call(gateway.conversations.change, { params: { agentId, id }, body }));
    },

    async remove(user: User, agentId: string, id: string, from: string) {
      const { call } = await client(user, agentId, from);
      return reach(call(gateway.conversations.remove, { params: { agentId, id } }));
    },

    async branches(user: User, agentId: string, id: string, from: string) {
      const { call } = await client(user, agentId, from);
      return reach(call(gateway.conversations.listBranches, { params: { agentId, id } }));
    },

    async branch(
      user: User,
      agentId: string,
      id: string,
      { message, ...more }: TypesOf<typeof web.conversations.branch>['body'],
      from: string,
    ) {
      const { call, agent } = await client(user, agentId, from);
      if (more.model !== undefined && agent.provider_key === null) await models.check([more.model]);
      const body = { ...more, ...(message !== undefined && { content: message }) };
      return reach(call(gateway.conversations.branch, { params: { agentId, id }, body }));
    },

    async search(user: User, agentId: string, q: string, from: string) {
      const { call } = await client(user, agentId, from);
      return reach(call(gateway.conversations.search, { params: { agentId }, query: { q } }));
    },

    files: async (user: User, agentId: string, id: string, from: string) =>
      touched(await client(user, agentId, from), { backend, user, agentId, id }),

    export: async (user: User, agentId: string, id: string, format: 'markdown' | 'json', from: string) =>
      exported(await client(user, agentId, from), { backend, user, agentId, id, format }),
  };
}

interface Reading {
  backend: BackendClient;
  user: User;
  agentId: string;
  id: string;
}

interface Exporting extends Reading {
  format: 'markdown' | 'json';
}

const STEPS_LOOKED_AT = 2000;

/** What the newest steps say of files. */
async function touched({ call }: Pick<Client, 'call'>, { backend, user, agentId, id }: Reading) {
  const head = { params: { agentId, id }, query: { after: 0, limit: 1 } };
  const { session } = await reach(call(gateway.conversations.get, head));
  const files = createTouched();
  // A long one must not use up what its reader may call otherwise, so it counts by itself.
  const from = Math.max(0, session.lastSeq - STEPS_LOOKED_AT);
  for await (const steps of stepsOf(backend.as(user, `files-${newId()}`), agentId, id, from)) files.take(steps);
  return { files: files.files() };
}

/** Read as it is written: a long one is never held as a whole. */
async function exported(
  { call, agent }: Pick<Client, 'call'> & { agent: { name: string } },
  { backend, user, agentId, id, format }: Exporting,
): Promise<Answer> {
  const head = { params: { agentId, id }, query: { after: 0, limit: 1 } };
  const { session } = await reach(call(gateway.conversations.get, head));
  // A long one must not use up what its reader may call otherwise, so it counts by itself.
  const pages = stepsOf(backend.as(user, `export-${newId()}`), agentId, id);
  const isJson = format === 'json';
  return respond({
    headers: {
      'content-type': isJson ? 'application/json; charset=utf-8' : 'text/markdown; charset=utf-8',
      'content-disposition': `attachment; filename="conversation.${isJson ? 'json' : 'md'}"`,
      'cache-control': 'private, no-store',
    },
    texts: isJson ? asJson(session, pages) : asMarkdown(agent.name, session, pages),
  });
}

async function* asJson(session: SessionHead, pages: AsyncIterable<SessionStep[]>): AsyncGenerator<string> {
  yield `{"session":${JSON.stringify(session)},"steps":[`;
  let first = true;
  for await (const steps of pages) {
    for (const step of steps) {
      yield `${first ? '' : ','}\n${JSON.stringify(step)}`;
      first = false;
    }
  }
  yield '\n]}\n';
}

const line = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

async function* asMarkdown(
  agent: string,
  { title }: SessionHead,
  pages: AsyncIterable<SessionStep[]>,
): AsyncGenerator<string> {
  yield `# ${line(title ?? '') || 'Conversation'}\n`;
  for await (const steps of pages) for (const step of steps) yield inMarkdown(agent, step);
}

function inMarkdown(
  agent: string,
  { type, role, content = '', at, attachments = [], toolCalls = [] }: SessionStep,
): string {
  const isSaid = type === 'user' || type === 'assistant' || type === 'imported';
  if (!isSaid) return '';
  const who = type === 'user' || role === 'user' ? 'You' : agent;
  const files = attachments.map(({ path }) => `*Attached: ${line(path)}*`);
  const tools = toolCalls.map(({ tool }) => `*Used ${tool}*`);
  const body = [content, ...files, ...tools].filter(Boolean).join('\n\n');
  return body === '' ? '' : `\n## ${line(who)} · ${at}\n\n${body}\n`;
}
