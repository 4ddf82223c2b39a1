import type { Database } from '@troupe/db';
import { newDefinition } from '@troupe/domain';
import { silentLog } from '@troupe/kernel';
import type { Agent } from './agent.ts';
import { createPgStore } from './store/store-pg.ts';
import type { AgentStore } from './store/store.ts';
import { lastText, scriptedModel, type Script } from './testing.ts';
import { backgroundTools } from './tools/background-agents.ts';
import type { Peers } from './tools/transfer-task.ts';
import { wakeAgent } from './wake.ts';

/** A lead that gives each message to its worker in the background, and the worker; both are rows of one database. */

const isResult = (text: string): boolean => text.startsWith('[The background task');

const leadScript: Script = (request) => {
  const last = lastText(request);
  if (request.messages.at(-1)?.role === 'tool') return 'going on';
  if (isResult(last)) return 'heard';
  return { calls: [{ tool: 'run_background_agent', args: { agent: 'worker', task: last } }] };
};

interface PairOptions {
  db: Database;
  leadId: string;
  userId?: string;
  worker?: Script;
  /** How the lead reaches its worker; as one of this process unless said. */
  reach?: Peers;
  /** Of what they keep. */
  around?: (store: AgentStore) => AgentStore;
}

export async function wakePair({
  db,
  leadId,
  userId = 'u',
  worker = () => 'done',
  reach,
  around = (store) => store,
}: PairOptions) {
  const workerId = `${leadId}-w`;
  const agents = new Map<string, Agent>();
  const peers: Peers = reach ?? (async ({ agentId }) => agents.get(agentId));
  const member = { agentId: workerId, name: 'worker', role: 'worker' };
  const scripts = { [leadId]: leadScript, [workerId]: worker };
  for (const [agentId, script] of Object.entries(scripts)) {
    const store = around(createPgStore({ db, userId, agentId }));
    const members = agentId === leadId ? [member] : [];
    const definition = newDefinition({ name: agentId, tools: [], team: { id: 't', name: 'T', members } });
    if (!(await store.definition())) await store.saveDefinition(definition);
    const tools = backgroundTools(definition);
    const model = scriptedModel(script);
    const timing = { leaseMs: 300, renewMs: 100, pollMs: 20 };
    agents.set(
      agentId,
      wakeAgent({ agentId, store, model, tools: async () => tools, peers, log: silentLog, ...timing }),
    );
  }
  return { lead: agents.get(leadId)!, worker: agents.get(workerId)! };
}
