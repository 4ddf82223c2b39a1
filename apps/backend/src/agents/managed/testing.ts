import assert from 'node:assert/strict';
import Anthropic, { toFile } from '@anthropic-ai/sdk';
import { replyChat } from '@troupe/ai';
import { send } from '@troupe/testing/services/people';
import { addUser } from '@troupe/testing/services/users';
import { reset, startWorld, type World } from '@troupe/testing/services/world';

/** What the tests of Managed Agents share: Anthropic’s own client, of somebody and of somebody else. */

export const MODEL = 'openai/gpt-4o-mini';

type FileMetadata = Awaited<ReturnType<Anthropic['beta']['files']['upload']>>;
type Deployment = Awaited<ReturnType<Anthropic['beta']['deployments']['create']>>;

export interface Kept {
  world: World;
  client: Anthropic;
  /** On the smallest plan. */
  other: Anthropic;
  agent: string;
  environment: string;
  upload: (name?: string, content?: Buffer, more?: object) => Promise<FileMetadata>;
  deploy: (more?: object) => Promise<Deployment>;
  /** Of web, with the key of the first. */
  ask: (method: string, path: string, body?: unknown) => ReturnType<typeof send>;
}

export async function startKept(): Promise<Kept> {
  const world = await startWorld({ AGENT_PRIVATE_HOSTS: '127.0.0.1' });
  const baseURL = world.services.backend;
  const client = new Anthropic({ baseURL, apiKey: world.user.key, maxRetries: 0 });
  const { key } = await addUser(world.services.runtime, { plan: 'solo' });
  const other = new Anthropic({ baseURL, apiKey: key, maxRetries: 0 });
  const environment = (await client.beta.environments.create({ name: 'here' })).id;
  const agent = (await client.beta.agents.create({ name: 'Keeper', model: MODEL })).id;
  return {
    world,
    client,
    other,
    agent,
    environment,
    upload: async (name = 'data.bin', content = Buffer.from('hello'), more = {}) =>
      client.beta.files.upload({ file: await toFile(content, name, { type: 'text/plain' }), ...more }),
    deploy: async (more = {}) =>
      client.beta.deployments.create({
        agent,
        environment_id: environment,
        name: 'Daily',
        initial_events: [says('Report.')],
        ...more,
      }),
    ask: (method, path, body) =>
      send(world.services.web + path, method, body, { authorization: `Bearer ${world.user.key}` }),
  };
}

export function answerDone(world: World): void {
  reset(world);
  world.openrouter.answer((request, response) => replyChat(request, response, { content: 'done' }));
}

export const says = (text: string) => ({ type: 'user.message' as const, content: [{ type: 'text' as const, text }] });

export async function all<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of pages) found.push(one);
  return found;
}

/** An error in the shape of the protocol. */
export const isRefused =
  (status: number, type: string, message: RegExp) =>
  (error: InstanceType<typeof Anthropic.APIError>): boolean => {
    const body = error.error as { type: string; error: { type: string; message: string } };
    assert.deepEqual([error.status, body.type, body.error.type], [status, 'error', type], error.message);
    assert.match(body.error.message, message);
    return true;
  };
