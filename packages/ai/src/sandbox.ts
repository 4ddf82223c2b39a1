import type { Provider, ProviderDelta, ProviderReply } from './provider.ts';
import type { ChatMessage, ChatRequest, Content, ToolCall, ToolDefinition } from './types.ts';

/**
 * A model that needs no network, so that a newcomer can see the whole platform work. It understands no language: a line
 * that starts with a command makes it use a tool, anything else is echoed. The commands are listed in docs/ai.md.
 */

const INTRO = 'This is the sandbox model: no AI provider is configured.';
const HINT =
  'I can use tools on plain commands, one a line: `use <tool> {"json":"arguments"}`, `run <command>`, `read <file>`, ' +
  '`write <file>: <text>`, `list <folder>`, `remember <text>`, `recall <text>`, `think <text>`, `todo <text>`, ' +
  '`fetch <url>`, `tell <agent> <task>`.';

interface Command {
  /** The first of these that the request offers is used. */
  tools: string[];
  /** Values by the names that tools use for them: the first name that the tool's schema knows is taken. */
  values: [names: string[], value: unknown][];
}

const RULES: [RegExp, (match: RegExpExecArray) => Command][] = [
  [
    /^(?:run|shell)\s+(.+)$/is,
    (m) => ({ tools: ['shell', 'run_command', 'bash'], values: [[['cmd', 'command'], m[1]]] }),
  ],
  [/^read\s+(\S+)$/i, (m) => ({ tools: ['read_file'], values: [[['path'], m[1]]] })],
  [
    /^write\s+(\S+?):?\s+(.+)$/is,
    (m) => ({
      tools: ['write_file'],
      values: [
        [['path'], m[1]],
        [['content', 'text'], m[2]],
      ],
    }),
  ],
  [/^list(?:\s+(\S+))?$/i, (m) => ({ tools: ['list_directory', 'list_files'], values: [[['path'], m[1] ?? '.']] })],
  [
    /^remember\s+(.+)$/is,
    (m) => ({ tools: ['add_memory', 'remember'], values: [[['memory', 'content', 'text', 'value'], m[1]]] }),
  ],
  [
    /^recall(?:\s+(.+))?$/is,
    (m) => ({
      tools: m[1] ? ['search_memories', 'search_memory', 'get_memories'] : ['get_memories', 'search_memories'],
      values: m[1] ? [[['query', 'text', 'keywords'], m[1]]] : [],
    }),
  ],
  [/^think\s+(.+)$/is, (m) => ({ tools: ['think'], values: [[['thought', 'text'], m[1]]] })],
  [
    /^todo\s+(.+)$/is,
    (m) => ({ tools: ['create_todo', 'add_todo'], values: [[['description', 'text', 'title'], m[1]]] }),
  ],
  [
    /^fetch\s+(\S+)$/i,
    (m) => ({
      tools: ['fetch', 'web_fetch'],
      values: [
        [['urls'], [m[1]]],
        [['url'], m[1]],
      ],
    }),
  ],
];

const USE = /^use\s+([\w.:-]+)\s*(\{.*\})?$/is;
const TELL = /^(?:tell|ask)\s+(?:the\s+)?(\S+?):?\s+(?:to\s+)?(.+)$/is;

export function createSandbox(): Provider {
  let calls = 0;
  const reply = (request: ChatRequest): ProviderReply => {
    const answer = answerTo(request, () => `call_sandbox_${(calls += 1)}`);
    const content = answer.message.content ?? '';
    const limit = (request.max_tokens ?? Infinity) * 4;
    if (answer.message.tool_calls || content.length <= limit) return answer;
    return { ...answer, message: { ...answer.message, content: content.slice(0, limit) }, finishReason: 'length' };
  };
  return {
    name: 'sandbox',
    chat: (_model, request, signal) => {
      signal?.throwIfAborted();
      return Promise.resolve(reply(request));
    },
    async *stream(_model, request, signal): AsyncGenerator<ProviderDelta[]> {
      const { message, finishReason } = reply(request);
      for (const word of (message.content ?? '').match(/\s*\S+\s*/g) ?? []) {
        signal?.throwIfAborted();
        yield [{ content: word }];
        // As a real one would: others get their turn between two words.
        await new Promise((resolve) => setImmediate(resolve));
      }
      const toolCalls = message.tool_calls?.map((call, index) => ({ index, ...call }));
      yield [...(toolCalls ? [{ toolCalls }] : []), { finishReason }];
    },
    models: () => Promise.resolve([]),
    close: () => Promise.resolve(),
  };
}

function answerTo({ messages, tools = [], tool_choice: choice }: ChatRequest, nextId: () => string): ProviderReply {
  const results = trailingResults(messages);
  if (results.length > 0) return say(`${INTRO} ${summary(messages, results)}`);
  const said = textOf(messages.findLast((message) => message.role === 'user')?.content ?? '').trim();
  const offered = choice === 'none' ? [] : tools;
  const wanted = commandsIn(said, offered);
  const toolCalls: ToolCall[] = [];
  const problems: string[] = [];
  for (const command of wanted) {
    if (typeof command === 'string') problems.push(command);
    else toolCalls.push({ id: nextId(), type: 'function', function: command });
  }
  if (toolCalls.length > 0) {
    const names = toolCalls.map((call) => call.function.name).join(', ');
    return {
      message: { role: 'assistant', content: `${INTRO} Using ${names}.`, tool_calls: toolCalls },
      finishReason: 'tool_calls',
      usage: undefined,
    };
  }
  const hint = tools.length > 0 ? ` ${HINT}` : '';
  return say(
    problems.length > 0
      ? `${INTRO} ${problems.join(' ')}${hint}`
      : `${INTRO} You said: ${said}${said ? '.' : ''}${hint}`,
  );
}

const say = (content: string): ProviderReply => ({
  message: { role: 'assistant', content },
  finishReason: 'stop',
  usage: undefined,
});

type ToolResult = Extract<ChatMessage, { role: 'tool' }>;

function trailingResults(messages: ChatMessage[]): ToolResult[] {
  const start = messages.findLastIndex((message) => message.role !== 'tool') + 1;
  return messages.slice(start) as ToolResult[];
}

const MAX_RESULT = 2_000;

function summary(messages: ChatMessage[], results: ToolResult[]): string {
  const names = new Map(
    messages.flatMap((message) =>
      message.role === 'assistant'
        ? (message.tool_calls ?? []).map((call) => [call.id, call.function.name] as const)
        : [],
    ),
  );
  return results
    .map(
      (result) =>
        `${names.get(result.tool_call_id) ?? 'The tool'} answered: ${textOf(result.content).slice(0, MAX_RESULT)}`,
    )
    .join('\n');
}

/** A call for each line that is a command; a sentence for each that cannot be carried out. */
function commandsIn(text: string, tools: ToolDefinition[]): (ToolCall['function'] | string)[] {
  // A command that spans lines (a file's content) counts as one when the first line alone is the only command.
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  const each = lines.map((line) => commandIn(line, tools));
  if (lines.length > 1 && each[0] !== undefined && each.slice(1).every((command) => command === undefined)) {
    const whole = commandIn(text, tools);
    if (whole !== undefined) return [whole];
  }
  return each.filter((command) => command !== undefined);
}

function commandIn(line: string, tools: ToolDefinition[]): ToolCall['function'] | string | undefined {
  const use = USE.exec(line);
  if (use) return direct(use[1]!, use[2] ?? '{}', tools);
  for (const [pattern, command] of RULES) {
    const match = pattern.exec(line);
    if (!match) continue;
    const { tools: names, values } = command(match);
    const tool = names.map((name) => toolNamed(tools, name)).find(Boolean);
    return tool && { name: tool.function.name, arguments: JSON.stringify(fill(tool, values)) };
  }
  const tell = TELL.exec(line);
  const transfer = tell && toolNamed(tools, 'transfer_task');
  if (!tell || !transfer) return undefined;
  return { name: transfer.function.name, arguments: JSON.stringify(handOver(transfer, tell[1]!, tell[2]!)) };
}

function direct(name: string, json: string, tools: ToolDefinition[]): ToolCall['function'] | string {
  const tool = toolNamed(tools, name);
  if (!tool)
    return `There is no tool ${name}; there are: ${tools.map((each) => each.function.name).join(', ') || 'none'}.`;
  try {
    JSON.parse(json);
  } catch {
    return `The arguments of ${name} are not valid JSON.`;
  }
  return { name: tool.function.name, arguments: json };
}

const toolNamed = (tools: ToolDefinition[], name: string): ToolDefinition | undefined =>
  tools.find((tool) => tool.function.name.toLowerCase() === name.toLowerCase());

type Properties = Record<string, { enum?: unknown[] } | undefined>;

const propertiesOf = (tool: ToolDefinition): Properties =>
  (tool.function.parameters?.['properties'] as Properties | undefined) ?? {};

function fill(tool: ToolDefinition, values: Command['values']): Record<string, unknown> {
  const known = propertiesOf(tool);
  const result: Record<string, unknown> = {};
  for (const [names, value] of values) {
    const name = names.find((each) => each in known);
    if (name) result[name] = value;
    else if (Object.keys(known).length === 0) result[names[0]!] = value;
  }
  return result;
}

function handOver(tool: ToolDefinition, agent: string, task: string): Record<string, unknown> {
  const agents = (propertiesOf(tool)['agent']?.enum ?? []).map(String);
  const wish = agent.toLowerCase();
  const named =
    agents.find((name) => name.toLowerCase() === wish) ?? agents.find((name) => name.toLowerCase().includes(wish));
  return { agent: named ?? agent, task };
}

const textOf = (content: Content): string =>
  typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join('');
