import assert from 'node:assert/strict';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { ask } from './sweep.ts';
import type { Target } from './targets.ts';
import { NOWHERE, type World } from './world.ts';

/** The same requests by the owner: a refusal of others tells something only where the owner is let in. */

/** What is refused for another reason than whose it is. */
const ELSE = [
  /^web (PATCH|POST|DELETE) \/api\/admin\/(users|access)|^web GET \/api\/admin\/costs/,
  // It is no authenticator app that waits for its first code.
  /^web POST \/api\/settings\/factors\/totp\/:id$/,
  // The same copy was deleted through web before.
  /^backend DELETE \S*:backupId$/,
  // The same thing goes in several ways, and is gone after the first; a link is not known to the examples.
  /DELETE \S*\/(files|sessions\/\S+|shares\/:shareId)$/,
  // A signature, a password or the secret of a device has to be right.
  /^web POST \/api\/(auth\/login|wallet-auth|wallet\/sessions\/voucher)$|^web GET \/api\/devices\/pair/,
  /^web POST \/api\/hooks\/:triggerId$|^web (GET|POST) \/api\/widgets\/:key\//,
  /\/api\/underground\/(bus\/send|wallets)$/,
  // There is no model here, and nothing at these paths.
  /^backend POST (\/api\/ai\/chat|\/v1\/(chat\/completions|messages\S*|responses|embeddings))$|^backend POST \/v1\/responses\/:id\/cancel$|^(backend|gateway) GET \/v1\/models\/|^gateway GET \/(nothing)?$/,
  // Entries that the examples cannot know.
  /^(gateway|backend) DELETE \S*\/memory\/|^backend POST \/v1\/team-store$|^web DELETE \/api\/memory$/,
];

/** It goes in several ways, and is there for each of them. */
const REMOVES_SERVER = /DELETE \S*\/mcp-servers\//;

/** What others need comes before what ends it. */
export function rank({ method, name }: Target): number {
  if (/PUT \S*\/files\/content$/.test(name)) return -1;
  if (name.startsWith('gateway POST /sessions')) return 2;
  // One of all agents is there once.
  if (name.endsWith('DELETE /api/mcp-servers/:name')) return 5;
  if (/\/mcp-servers\/\S+\/update$/.test(name)) return 1;
  if (REMOVES_SERVER.test(name) || name.endsWith('/cancel')) return 2;
  // With the key at the backend first: a session may only repeat the token that the key has set.
  if (name.startsWith('web POST /api/register-')) return 2;
  if (name.endsWith('/token/rotate')) return 8;
  // Its documents are deleted by themselves before.
  if (name.endsWith('DELETE /api/knowledge/:id')) return 5;
  // As its triggers are.
  if (name.endsWith('DELETE /api/scheduled-tasks')) return 5;
  if (/DELETE \/api\/(agents\/:id|auth\/sessions\/:id)$/.test(name)) return 9;
  // The key that is tried is there until then.
  if (name.endsWith('/model-keys/take')) return 4;
  // A task, which goes with its conversation; not the agent.
  if (/\/background\/\S+\/stop$/.test(name)) return 1;
  if (/reset|restore|:action|stop|restart|repair|\/update$/.test(name)) return 3;
  return method === 'GET' ? 0 : method === 'DELETE' ? 4 : 1;
}

/** What the owner shows at each of them. */
export async function ownersHeaders({ owner, ids }: World): Promise<(target: Target) => Record<string, string>> {
  const internal = { authorization: `Bearer ${TEST_SECRETS.internalKey}` };
  const context = {
    'x-user-id': ids.userId,
    'x-user-email': ids.email,
    'x-user-plan': 'network',
    'x-billing-subscription-id': 'sub_1',
  };
  const { token } = (await owner.ask('GET', `/api/agents/${ids.agentId}/token`)).body as { token: string };
  return ({ service, auth, name }): Record<string, string> => {
    if (auth === 'gateway') return { authorization: `Bearer ${token}` };
    if (auth === 'client') return { authorization: `Bearer ${owner.key}` };
    if (/register|heartbeat$/.test(name) && service === 'backend') return { authorization: `Bearer ${owner.key}` };
    return service === 'web' ? { cookie: owner.cookie } : { ...internal, ...context };
  };
}

export async function ownerIsRefused(world: World, targets: readonly Target[]): Promise<string[]> {
  const { owner, ids } = world;
  const headersFor = await ownersHeaders(world);
  const attach = async (): Promise<void> => {
    // The agent's cases have not passed with it.
    const path = `/api/agents/${ids.agentId}/mcp-servers/${ids.mcpServer}?force=true`;
    assert.equal((await owner.ask('PUT', path, { url: NOWHERE })).status, 200);
  };
  const refused: string[] = [];
  const named = targets.filter((target) => target.namesOwner && !ELSE.some((one) => one.test(target.name)));
  for (const target of named.toSorted((a, b) => rank(a) - rank(b))) {
    if (REMOVES_SERVER.test(target.name)) await attach();
    const { status, text } = await ask(world, target, headersFor(target));
    if ([401, 403, 404].includes(status))
      refused.push(`${target.name} ${target.url}: ${status} ${text.split('\n')[1]?.slice(0, 150)}`);
  }
  return refused;
}
