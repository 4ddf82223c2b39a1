import { createAi, providersFrom, readCatalogue, type Ai } from '@troupe/ai';
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
  /** Writes what was recorded and ends what is open. */
  close: () => Promise<void>;
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
  const ai = createAi({ providers: providersFrom(settings), catalogue, log, meter });
  return { ai, catalogue, usage, close: () => closeAll([usage, ai]) };
}
