import type { RunRecord, ToolCallRecord } from '@troupe/agent';
import type { UsageEvent } from '@troupe/ai';
import { LONG_BUCKETS, sharedAttributes, type Metrics, type Span, type Telemetry, type Trace } from '@troupe/kernel';

/** Model calls, tools and runs as figures for whoever collects metrics, and as spans for whoever collects traces. */
export interface Observer {
  call: (event: UsageEvent) => void;
  tool: (userId: string, record: ToolCallRecord) => void;
  run: (userId: string, record: RunRecord) => void;
}

const SECOND = 1000;

export function createObserver(metrics: Metrics, telemetry: Telemetry): Observer {
  const figures = createFigures(metrics);
  const add = addSpan(telemetry);
  const callSpan = createCallSpan();
  return {
    call(event) {
      figures.call(event);
      if (telemetry.on) add(event.trace, event.latencyMs, callSpan(event));
    },
    tool(userId, record) {
      figures.tool(record);
      if (telemetry.on && record.trace) add(record.trace, record.ms, toolSpan(userId, record));
    },
    run(userId, record) {
      figures.run(record);
      if (telemetry.on && record.trace) add(record.trace, record.ms, runSpan(userId, record));
    },
  };
}

type Described = Pick<Span, 'name' | 'kind' | 'attributes' | 'shared' | 'error'>;

/** What is told ends now, and began as long ago as it took. Without a trace it is one of its own. */
const addSpan =
  (telemetry: Telemetry) =>
  (trace: Trace | undefined, ms: number, described: Described): void => {
    if (trace?.sampled === false) return;
    const { traceId, spanId, parentSpanId } = trace ?? {};
    const { name, kind, attributes, shared, error } = described;
    const end = performance.timeOrigin + performance.now();
    telemetry.add({ traceId, spanId, parentSpanId, name, kind, start: end - ms, end, attributes, shared, error });
  };

/** What calls of one model have alike is put together once. */
function createCallSpan(): (event: UsageEvent) => Described {
  const alike = new Map<string, Pick<Described, 'name' | 'kind' | 'shared' | 'error'>>();
  return (event) => {
    const key = `${event.operation} ${event.provider} ${event.success} ${event.failure ?? ''} ${event.finishReason ?? ''} ${event.model}`;
    const { name, kind, shared, error } = known(alike, key, () => callsLike(event));
    return {
      name,
      kind,
      shared,
      error,
      attributes: {
        'gen_ai.agent.id': event.agentId || undefined,
        'gen_ai.conversation.id': event.runId?.split(':')[0],
        'gen_ai.usage.input_tokens': event.inputTokens,
        'gen_ai.usage.output_tokens': event.outputTokens,
        'gen_ai.usage.cache_read.input_tokens': event.cachedTokens || undefined,
        'gen_ai.usage.cache_write.input_tokens': event.cacheWriteTokens || undefined,
        'gen_ai.usage.reasoning.output_tokens': event.reasoningTokens || undefined,
        'enduser.id': event.userId,
        'troupe.cost_usd': event.costMicros / 1e6,
      },
    };
  };
}

const callsLike = ({ operation, provider, model, success, failure, finishReason }: UsageEvent) => ({
  name: `${operation} ${model}`,
  kind: 'client' as const,
  error: failure,
  shared: sharedAttributes({
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': model,
    'gen_ai.response.model': success ? model : undefined,
    'gen_ai.response.finish_reasons': finishReason === undefined ? undefined : [finishReason],
    'error.type': failure,
  }),
});

const toolSpan = (userId: string, { agentId, runId, callId, tool, success }: ToolCallRecord): Described => ({
  name: `execute_tool ${tool}`,
  kind: 'internal',
  error: success ? undefined : 'tool_error',
  attributes: {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': tool,
    'gen_ai.tool.call.id': callId,
    'gen_ai.agent.id': agentId,
    'gen_ai.conversation.id': runId.split(':')[0],
    'enduser.id': userId,
    'error.type': success ? undefined : 'tool_error',
  },
});

function runSpan(userId: string, record: RunRecord): Described {
  const { agentId, agentName, version, sessionId, runId, outcome, spent } = record;
  const failure = outcome === 'done' || outcome === 'cancelled' ? undefined : outcome;
  return {
    name: `invoke_agent ${agentName}`,
    kind: 'internal',
    error: failure,
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.id': agentId,
      'gen_ai.agent.name': agentName,
      'gen_ai.agent.version': String(version),
      'gen_ai.conversation.id': sessionId,
      'gen_ai.usage.output_tokens': spent.outputTokens,
      'enduser.id': userId,
      'troupe.run.id': runId,
      'troupe.run.outcome': outcome,
      'troupe.run.turns': spent.turns,
      'troupe.run.tokens': spent.tokens,
      'troupe.cost_usd': spent.costMicros / 1e6,
      'error.type': failure,
    },
  };
}

/** Series are put together once for each set of labels, not at each call. */
function createFigures(metrics: Metrics) {
  const calls = new Map<string, (event: UsageEvent) => void>();
  const tools = new Map<string, (ms: number) => void>();
  const ways = { calls: makeCall(metrics), tools: makeTool(metrics) };
  return {
    call(event: UsageEvent): void {
      const key = `${event.operation} ${event.provider} ${event.failure ?? ''} ${event.model}`;
      known(calls, key, () => ways.calls(event))(event);
    },
    tool({ tool, success, ms }: ToolCallRecord): void {
      known(tools, `${success} ${tool}`, () => ways.tools(tool, success))(ms);
    },
    run({ outcome, ms }: RunRecord): void {
      metrics.counter('agent_runs_total', 'Runs of agents that have ended', { outcome })();
      const seconds = metrics.histogram('agent_run_duration_seconds', 'From the input to the end', {}, LONG_BUCKETS);
      seconds(ms / SECOND);
    },
  };
}

/** Users name models and tools, too: beyond the bound of metrics.ts all are one, and need not be remembered here. */
const MOST_KNOWN = 1000;

function known<T extends object>(all: Map<string, T>, key: string, make: () => T): T {
  const found = all.get(key);
  if (found !== undefined) return found;
  const made = make();
  if (all.size < MOST_KNOWN) all.set(key, made);
  return made;
}

/** As the conventions for generative AI have them. */
const TOKEN_BUCKETS = Array.from({ length: 14 }, (_, power) => 4 ** power);

const makeCall = (metrics: Metrics) => (event: UsageEvent) => {
  const { provider, model, operation, failure } = event;
  const labels = { gen_ai_provider_name: provider, gen_ai_request_model: model };
  const tokens = (type: string) =>
    metrics.counter('gen_ai_client_tokens_total', 'Tokens of model calls', { ...labels, gen_ai_token_type: type });
  const [input, output, cached] = [tokens('input'), tokens('output'), tokens('cache_read')];
  const sizes = (type: string) =>
    metrics.histogram(
      'gen_ai_client_token_usage',
      'Tokens of one model call',
      { ...labels, gen_ai_operation_name: operation, gen_ai_token_type: type },
      TOKEN_BUCKETS,
    );
  const [asked, answered] = [sizes('input'), sizes('output')];
  const cost = metrics.counter('gen_ai_client_cost_usd_total', 'What model calls cost the platform', labels);
  const took = metrics.histogram(
    'gen_ai_client_operation_duration_seconds',
    'Model calls, from sending to the last word',
    { ...labels, gen_ai_operation_name: operation, error_type: failure ?? '' },
    LONG_BUCKETS,
  );
  return ({ inputTokens, outputTokens, cachedTokens, costMicros, latencyMs }: UsageEvent): void => {
    input(inputTokens);
    output(outputTokens);
    asked(inputTokens);
    answered(outputTokens);
    cached(cachedTokens);
    cost(costMicros / 1e6);
    took(latencyMs / SECOND);
  };
};

const makeTool = (metrics: Metrics) => (tool: string, success: boolean) => {
  const labels = { gen_ai_tool_name: tool, success: String(success) };
  const took = metrics.histogram('agent_tool_duration_seconds', 'Tool calls of agents', labels, LONG_BUCKETS);
  return (ms: number): void => took(ms / SECOND);
};
