import type { ServerResponse } from 'node:http';
import { createStandIn, replyChat, replyJson, type StandIn, type StandInRequest } from '@troupe/ai/stand-in';
import { addUser, startServices, type StartedServices, type TestUser } from './services.ts';

/** The platform, as the public clients meet it: one provider that speaks OpenAI's format and one that speaks Anthropic's. */
export interface World {
  services: StartedServices;
  openrouter: StandIn;
  anthropic: StandIn;
  user: TestUser;
  /** The user's row of usage that is wanted, once it is there. */
  usage: (wanted: (row: UsageRow) => boolean) => Promise<UsageRow>;
  stop: () => Promise<void>;
}

interface UsageRow {
  model: string;
  input_tokens: bigint;
  output_tokens: bigint;
  cached_tokens: bigint;
  reasoning_tokens: bigint;
  cost_micros: bigint;
}

export async function startWorld(env: Record<string, string> = {}): Promise<World> {
  const openrouter = await createStandIn();
  const anthropic = await createStandIn((request, response) => replyMessage(request, response));
  const services = await startServices({
    OPENROUTER_API_KEY: 'or-key',
    OPENROUTER_BASE_URL: openrouter.url,
    ANTHROPIC_API_KEY: 'an-key',
    ANTHROPIC_BASE_URL: anthropic.url,
    ...env,
  });
  const user = await addUser(services.runtime, { plan: 'network' });
  return {
    services,
    openrouter,
    anthropic,
    user,
    async usage(wanted) {
      for (;;) {
        const rows = await services.runtime.db.system
          .selectFrom('usage_logs')
          .select(['model', 'input_tokens', 'output_tokens', 'cached_tokens', 'reasoning_tokens', 'cost_micros'])
          .where('user_id', '=', user.id)
          .orderBy('id')
          .execute();
        const found = rows.find(wanted);
        if (found) return found;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    async stop() {
      await services.stop();
      await openrouter.close();
      await anthropic.close();
    },
  };
}

/** Forgets what was asked, and answers as at the beginning. */
export function reset({ openrouter, anthropic }: World): void {
  openrouter.requests.length = 0;
  anthropic.requests.length = 0;
  openrouter.answer((request, response) => replyChat(request, response));
  anthropic.answer((request, response) => replyMessage(request, response));
}

type Block = Record<string, unknown> & { type: string };

const USAGE = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 6, cache_creation_input_tokens: 4 };

/** A correct answer in Anthropic's format, streamed when the request asks for that. */
export function replyMessage(
  { path, body }: StandInRequest,
  response: ServerResponse,
  content: Block[] = [{ type: 'text', text: 'Hello from Anthropic.' }],
): void {
  if (path.includes('/models')) return replyJson(response, { data: [{ id: 'claude-listed', type: 'model' }] });
  if (path.endsWith('/count_tokens')) return replyJson(response, { input_tokens: 42 });
  const reason = content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn';
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: body['model'], stop_sequence: null };
  if (body['stream'] !== true) return replyJson(response, { ...message, content, stop_reason: reason, usage: USAGE });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const event = (type: string, data: object = {}): void =>
    void response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  event('message_start', {
    message: { ...message, content: [], stop_reason: null, usage: { ...USAGE, output_tokens: 1 } },
  });
  for (const [index, block] of content.entries()) {
    const { begin, deltas } = pieces(block);
    event('content_block_start', { index, content_block: begin });
    for (const delta of deltas) event('content_block_delta', { index, delta });
    event('content_block_stop', { index });
  }
  event('message_delta', { delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 5 } });
  event('message_stop');
  response.end();
}

function pieces(block: Block): { begin: object; deltas: object[] } {
  if (block.type === 'text')
    return { begin: { type: 'text', text: '' }, deltas: [{ type: 'text_delta', text: block['text'] }] };
  if (block.type === 'thinking')
    return {
      begin: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        { type: 'thinking_delta', thinking: block['thinking'] },
        { type: 'signature_delta', signature: block['signature'] },
      ],
    };
  const json = JSON.stringify(block['input'] ?? {});
  return { begin: { ...block, input: {} }, deltas: [{ type: 'input_json_delta', partial_json: json }] };
}
