import type { ToolRecorder } from '@troupe/agent';
import {
  createAi,
  ownProvidersFrom,
  providersFrom,
  readCatalogue,
  withScope,
  type Ai,
  type CallScope,
  type ModelClient,
  type OwnKey,
} from '@troupe/ai';
import type { Database } from '@troupe/db';
import type { Catalogue } from '@troupe/domain';
import { closeAll, type Clock, type Log, type Settings } from '@troupe/kernel';
import { createSpend, createWriter, type UsageWriter } from '@troupe/usage';

export interface AiService {
  /** Metered and capped: whoever gives a scope is charged, nobody has to reserve or record. */
  ai: Ai;
  catalogue: Catalogue;
  /** For tool calls; model calls are recorded by `ai` itself. */
  usage: UsageWriter;
  forAgent: (scope: CallScope & { agentId: string }, ownKey?: () => OwnKey | undefined) => AgentPorts;
  /** Writes what was recorded and ends what is open. */
  close: () => Promise<void>;
}

/** What an agent needs to think on its owner's account. The model is metered and capped. */
interface AgentPorts {
  model: ModelClient;
  onTool: ToolRecorder;
}

export interface AiServiceDeps {
  settings: Settings;
  db: Database;
  log: Log;
  clock: Clock;
}

export function createAiService({ settings, db, log, clock }: AiServiceDeps): AiService {
  const catalogue = readCatalogue(settings.AI_CATALOGUE);
  const usage = createWriter({ db, log, clock });
  const spend = createSpend({ db, clock, tokenQuotas: settings.TOKEN_QUOTAS === 'on' });
  const meter = { reserve: spend.reserve, settle: spend.settle, record: usage.record };
  const ownProvider = ownProvidersFrom(settings);
  const ai = createAi({ providers: providersFrom(settings), catalogue, log, meter, ownProvider });
  const forAgent: AiService['forAgent'] = (scope, ownKey) => ({
    model: withScope(ai, scope, ownKey),
    onTool({ tool, ms, success }) {
      usage.recordTool({ userId: scope.userId, agentId: scope.agentId, tool, durationMs: ms, success });
    },
  });
  return { ai, catalogue, usage, forAgent, close: () => closeAll([usage, ai]) };
}
