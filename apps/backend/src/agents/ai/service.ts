import type { ToolRecorder } from '@troupe/agent';
import {
  createAi,
  ownProvidersFrom,
  providersFrom,
  readCatalogue,
  withScope,
  type CallScope,
  type ModelClient,
  type OwnKey,
} from '@troupe/ai';
import type { Database } from '@troupe/db';
import { closeAll, type Clock, type Log, type Settings } from '@troupe/kernel';
import { createSpend, createWriter } from '@troupe/usage';

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

export type AiService = ReturnType<typeof createAiService>;

export function createAiService({ settings, db, log, clock }: AiServiceDeps) {
  const catalogue = readCatalogue(settings.AI_CATALOGUE);
  const usage = createWriter({ db, log, clock });
  const spend = createSpend({ db, clock, tokenQuotas: settings.TOKEN_QUOTAS === 'on' });
  const meter = { reserve: spend.reserve, settle: spend.settle, record: usage.record };
  const ownProvider = ownProvidersFrom(settings);
  const ai = createAi({ providers: providersFrom(settings), catalogue, log, meter, ownProvider });
  const forAgent = (scope: CallScope & { agentId: string }, ownKey?: () => OwnKey | undefined): AgentPorts => ({
    model: withScope(ai, scope, ownKey),
    onTool({ tool, ms, success }) {
      usage.recordTool({ userId: scope.userId, agentId: scope.agentId, tool, durationMs: ms, success });
    },
  });
  return {
    /** Metered and capped: whoever gives a scope is charged, nobody has to reserve or record. */
    ai,
    catalogue,
    /** For tool calls; model calls are recorded by `ai` itself. */
    usage,
    forAgent,
    /** Writes what was recorded and ends what is open. */
    close: () => closeAll([usage, ai]),
  };
}
