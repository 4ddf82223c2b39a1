import type { RunRecorder, ToolRecorder } from '@troupe/agent';
import {
  createAi,
  createSwitchedAi,
  ownProvidersFrom,
  providersFrom,
  readCatalogue,
  withScope,
  type Ai,
  type CallScope,
  type Meter,
  type ModelClient,
  type OwnKey,
  type Provider,
} from '@troupe/ai';
import { aiProvidersChanged } from '@troupe/contract';
import type { Database, Listener } from '@troupe/db';
import type { Catalogue } from '@troupe/domain';
import { closeAll, createTelemetry, type Clock, type Log, type Metrics, type Settings } from '@troupe/kernel';
import { createObserver } from './observe.ts';
import { createAddedProviders } from './providers.ts';
import { createSpend, createWriter } from '@troupe/usage';

/** What an agent needs to think on its owner's account. The model is metered and capped. */
interface AgentPorts {
  model: ModelClient;
  onTool: ToolRecorder;
  onRun: RunRecorder;
  traced: boolean;
}

export interface AiServiceDeps {
  settings: Settings;
  db: Database;
  log: Log;
  clock: Clock;
  listener: Listener;
  sealKey: string;
  metrics: Metrics;
  version: string;
}

export type AiService = ReturnType<typeof createAiService>;

export function createAiService(deps: AiServiceDeps) {
  const { settings, db, log, clock } = deps;
  const catalogue: Catalogue = { ...readCatalogue(settings.AI_CATALOGUE) };
  const usage = createWriter({ db, log, clock });
  const spend = createSpend({ db, clock, tokenQuotas: settings.TOKEN_QUOTAS === 'on' });
  const telemetry = createTelemetry({ ...deps, service: 'backend' });
  const observer = createObserver(deps.metrics, telemetry);
  const record: Meter['record'] = (event) => {
    usage.record(event);
    observer.call(event);
  };
  const meter: Meter = { reserve: spend.reserve, settle: spend.settle, record };
  const ownProvider = ownProvidersFrom(settings);
  const make = (added: readonly Provider[]): Ai => {
    catalogue.open = added.map(({ name }) => name).filter((name) => !Object.hasOwn(catalogue.providers, name));
    return createAi({ providers: providersFrom(settings, {}, added), catalogue, log, meter, ownProvider });
  };
  const { ai, reload } = withAdded(deps, make);
  const forAgent = (scope: CallScope & { agentId: string }, ownKey?: () => OwnKey | undefined): AgentPorts => ({
    model: withScope(ai, scope, ownKey),
    onTool(record) {
      const { tool, ms, success } = record;
      usage.recordTool({ userId: scope.userId, agentId: scope.agentId, tool, durationMs: ms, success });
      observer.tool(scope.userId, record);
    },
    onRun: (record) => observer.run(scope.userId, record),
    traced: telemetry.on,
  });
  return {
    /** Metered and capped: whoever gives a scope is charged, nobody has to reserve or record. */
    ai,
    catalogue,
    /** For tool calls; model calls are recorded by `ai` itself. */
    usage,
    forAgent,
    /** Takes up what administrators have added: to be awaited before anybody asks. */
    reload,
    /** Writes what was recorded and ends what is open. */
    close: () => closeAll([telemetry, usage, ai]),
  };
}

/** The providers that administrators have added count beside those of the environment, from the moment they are there. */
function withAdded(
  { db, settings, sealKey, log, listener }: AiServiceDeps,
  make: (added: readonly Provider[]) => Ai,
): { ai: Ai; reload: () => Promise<void> } {
  const added = createAddedProviders(db, settings, sealKey, log);
  const ai = createSwitchedAi(make([]), (err) => log.warn({ err }, 'a provider was not closed'));
  const read = async (): Promise<void> => ai.switchTo(make(await added()));
  // One after the other: the last to be read is the last that was told.
  let reading: Promise<void> = Promise.resolve();
  listener.on(aiProvidersChanged, () => {
    reading = reading.then(read).catch((err: unknown) => log.error({ err }, 'the providers could not be read again'));
  });
  return { ai, reload: read };
}
