import { setTimeout } from 'node:timers/promises';
import {
  acceptedContent,
  completable,
  createMcpHandler,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceTemplate,
  type McpHttpHandler,
  type McpRequestContext,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

/** The tools, prompts and resources that the conformance suite asks a server for. They are its words, not ours. */

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';
const state = createRequestStateCodec<{ round: number }>({ key: 'a key of thirty-two bytes and more' });

const say = (text: string) => ({ content: [{ type: 'text' as const, text }] });
const picture = { type: 'image' as const, data: PIXEL, mimeType: 'image/png' };
const user = <C>(content: C) => ({ role: 'user' as const, content });

export function createEverything(): McpHttpHandler {
  const handler = createMcpHandler((context) => {
    const server = makeServer(context);
    tool(server, 'test_trigger_tool_change', () => {
      handler.notify.toolsChanged();
      return say('The tools changed.');
    });
    tool(server, 'test_trigger_prompt_change', () => {
      handler.notify.promptsChanged();
      return say('The prompts changed.');
    });
    return server;
  });
  return handler;
}

function makeServer({ era }: McpRequestContext): McpServer {
  const server = new McpServer(
    { name: 'everything', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        completions: {},
        logging: {},
      },
      requestState: { verify: state.verify },
      // Without a session nobody knows what an older client can: nothing is asked of it.
      enforceStrictCapabilities: true,
    },
  );
  addPlainTools(server);
  addTalkingTools(server);
  addAskingTools(server);
  if (era === 'modern') addRoundTools(server);
  addPrompts(server);
  addResources(server);
  return server;
}

const tool = (
  server: McpServer,
  name: string,
  run: (context: ServerContext) => unknown,
  description = `Fixture ${name}`,
): void => void server.registerTool(name, { description }, run as never);

function addPlainTools(server: McpServer): void {
  tool(server, 'test_simple_text', () => say('This is a simple text response for testing.'));
  tool(server, 'test_image_content', () => ({ content: [picture] }));
  tool(server, 'test_audio_content', () => ({ content: [{ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }] }));
  const embedded = {
    uri: 'test://embedded-resource',
    mimeType: 'text/plain',
    text: 'This is an embedded resource content.',
  };
  tool(server, 'test_embedded_resource', () => ({ content: [{ type: 'resource', resource: embedded }] }));
  const mixed = {
    uri: 'test://mixed-content-resource',
    mimeType: 'application/json',
    text: '{"test":"data","value":123}',
  };
  tool(server, 'test_multiple_content_types', () => ({
    content: [{ type: 'text', text: 'Multiple content types test:' }, picture, { type: 'resource', resource: mixed }],
  }));
  tool(server, 'test_error_handling', () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
}

function addTalkingTools(server: McpServer): void {
  tool(server, 'test_tool_with_logging', async ({ mcpReq }) => {
    for (const text of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.log('info', text);
      await setTimeout(50);
    }
    return say('Logged three times.');
  });
  tool(server, 'test_logging_tool', async ({ mcpReq }) => {
    await mcpReq.log('info', 'A line of the log');
    return say('Logged.');
  });
  tool(server, 'test_tool_with_progress', async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 100 },
        });
      await setTimeout(50);
    }
    return say('Done in three steps.');
  });
}

const word = z.string();
const DEFAULTS = {
  type: 'object' as const,
  properties: {
    name: { type: 'string' as const, default: 'John Doe' },
    age: { type: 'integer' as const, default: 30 },
    score: { type: 'number' as const, default: 95.5 },
    status: { type: 'string' as const, enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean' as const, default: true },
  },
};
const titled = (kind: string) =>
  ['First', 'Second', 'Third'].map((title, index) => ({ const: `value${index + 1}`, title: `${title} ${kind}` }));
const OPTIONS = ['option1', 'option2', 'option3'];
const ENUMS = {
  type: 'object' as const,
  properties: {
    untitledSingle: { type: 'string' as const, enum: OPTIONS },
    titledSingle: { type: 'string' as const, oneOf: titled('Option') },
    legacyEnum: {
      type: 'string' as const,
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: { type: 'array' as const, items: { type: 'string' as const, enum: OPTIONS } },
    titledMulti: { type: 'array' as const, items: { anyOf: titled('Choice') } },
  },
};

/** Of the older revisions: the server asks the client, while the call waits. */
function addAskingTools(server: McpServer): void {
  server.registerTool(
    'test_sampling',
    { description: 'Asks the client’s model', inputSchema: z.object({ prompt: word }) },
    async ({ prompt }, { mcpReq }) => {
      const messages = [user({ type: 'text' as const, text: prompt })];
      const { content } = await mcpReq.requestSampling({ messages, maxTokens: 100 });
      const text = (Array.isArray(content) ? content : [content]).map((one) => (one.type === 'text' ? one.text : ''));
      return say(`LLM response: ${text.join('')}`);
    },
  );
  server.registerTool(
    'test_elicitation',
    { description: 'Asks the client’s user', inputSchema: z.object({ message: word }) },
    async ({ message }, { mcpReq }) => {
      const properties = {
        username: { type: 'string' as const, description: "User's response" },
        email: { type: 'string' as const, description: "User's email address" },
      };
      const requestedSchema = { type: 'object' as const, properties, required: ['username', 'email'] };
      const { action, content } = await mcpReq.elicitInput({ message, requestedSchema });
      return say(`User response: action: ${action}, content: ${JSON.stringify(content)}`);
    },
  );
  for (const [name, requestedSchema] of [
    ['test_elicitation_sep1034_defaults', DEFAULTS],
    ['test_elicitation_sep1330_enums', ENUMS],
  ] as const)
    tool(server, name, async ({ mcpReq }) => {
      const { action, content } = await mcpReq.elicitInput({ message: 'Please fill in', requestedSchema });
      return say(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`);
    });
}

const elicit = (message: string, field: string, type: 'string' | 'boolean' = 'string') =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties: { [field]: { type } as { type: 'string' } }, required: [field] },
  });
const sample = (text: string, maxTokens: number) =>
  inputRequired.createMessage({ messages: [user({ type: 'text', text })], maxTokens });

/** Of the newest revision: a result says what is missing, and the client calls again with it. */
function addRoundTools(server: McpServer): void {
  const accepted = (context: ServerContext, key: string): Record<string, unknown> | undefined =>
    acceptedContent(context.mcpReq.inputResponses, key);
  tool(server, 'test_input_required_result_elicitation', (context) => {
    const name = accepted(context, 'user_name')?.['name'];
    if (typeof name === 'string') return say(`Hello, ${name}!`);
    return inputRequired({ inputRequests: { user_name: elicit('What is your name?', 'name') } });
  });
  tool(server, 'test_input_required_result_sampling', ({ mcpReq }) => {
    const given = inputResponse(mcpReq.inputResponses, 'capital_question');
    if (given.kind === 'sampling') return say(JSON.stringify(given.result.content));
    return inputRequired({ inputRequests: { capital_question: sample('What is the capital of France?', 100) } });
  });
  tool(server, 'test_input_required_result_list_roots', ({ mcpReq }) => {
    const given = inputResponse(mcpReq.inputResponses, 'client_roots');
    if (given.kind === 'roots') return say(given.roots.map(({ uri }) => uri).join(' '));
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  });
  for (const name of ['test_input_required_result_request_state', 'test_input_required_result_tampered_state'])
    tool(server, name, async (context) => {
      if (accepted(context, 'confirm') && context.mcpReq.requestState<{ round: number }>()?.round === 1)
        return say('state-ok');
      const requestState = await state.mint({ round: 1 });
      return inputRequired({ inputRequests: { confirm: elicit('Please confirm', 'ok', 'boolean') }, requestState });
    });
  tool(server, 'test_input_required_result_multiple_inputs', async (context) => {
    const { inputResponses: given = {} } = context.mcpReq;
    if (['user_name', 'greeting', 'client_roots'].every((key) => key in given)) return say('All three came.');
    return inputRequired({
      inputRequests: {
        user_name: elicit('What is your name?', 'name'),
        greeting: sample('Generate a greeting', 50),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await state.mint({ round: 1 }),
    });
  });
  tool(server, 'test_input_required_result_multi_round', async (context) => {
    const round = context.mcpReq.requestState<{ round: number }>()?.round ?? 0;
    if (round === 2 && accepted(context, 'step2')) return say('Both steps are done.');
    if (round >= 1 && accepted(context, 'step1'))
      return inputRequired({
        inputRequests: { step2: elicit('Step 2: What is your favorite color?', 'color') },
        requestState: await state.mint({ round: 2 }),
      });
    return inputRequired({
      inputRequests: { step1: elicit('Step 1: What is your name?', 'name') },
      requestState: await state.mint({ round: 1 }),
    });
  });
  tool(server, 'test_input_required_result_capabilities', ({ mcpReq }) => {
    const envelope = mcpReq.envelope as Record<string, object | undefined> | undefined;
    const has = envelope?.['io.modelcontextprotocol/clientCapabilities'] ?? {};
    if (Object.keys(mcpReq.inputResponses ?? {}).length > 0) return say('It came.');
    const inputRequests = {
      ...('elicitation' in has && { name: elicit('What is your name?', 'name') }),
      ...('sampling' in has && { answer: sample('Say something', 50) }),
      ...('roots' in has && { roots: inputRequired.listRoots() }),
    };
    return Object.keys(inputRequests).length === 0 ? say('Nothing can be asked.') : inputRequired({ inputRequests });
  });
  tool(server, 'test_streaming_elicitation', (context) =>
    accepted(context, 'name')
      ? say('It came.')
      : inputRequired({ inputRequests: { name: elicit('What is your name?', 'name') } }),
  );
  tool(server, 'test_missing_capability', ({ mcpReq }) =>
    inputResponse(mcpReq.inputResponses, 'answer').kind === 'sampling'
      ? say('It can.')
      : inputRequired({ inputRequests: { answer: sample('Say something', 50) } }),
  );
}

function addPrompts(server: McpServer): void {
  const text = (said: string) => user({ type: 'text' as const, text: said });
  server.registerPrompt('test_simple_prompt', { description: 'A prompt' }, () => ({
    messages: [text('This is a simple prompt for testing.')],
  }));
  const arg = (description: string) => completable(word.describe(description), () => ['paris', 'park', 'party']);
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'A prompt with arguments', argsSchema: z.object({ arg1: arg('First'), arg2: arg('Second') }) },
    ({ arg1, arg2 }) => ({ messages: [text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'A prompt with a resource', argsSchema: z.object({ resourceUri: word }) },
    ({ resourceUri: uri }) => ({
      messages: [
        user({
          type: 'resource' as const,
          resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
        }),
        text('Please process the embedded resource above.'),
      ],
    }),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'A prompt with a picture' }, () => ({
    messages: [user(picture), text('Please analyze the image above.')],
  }));
  server.registerPrompt('test_input_required_result_prompt', { description: 'A prompt that asks' }, (({
    mcpReq,
  }: ServerContext) => {
    const given = acceptedContent(mcpReq.inputResponses, 'user_context')?.['context'];
    if (typeof given === 'string') return { messages: [text(`In the context of ${given}`)] };
    return inputRequired({
      inputRequests: { user_context: elicit('What context should the prompt use?', 'context') },
    });
  }) as never);
}

function addResources(server: McpServer): void {
  const fixed = (name: string, uri: string, mimeType: string, contents: { text: string } | { blob: string }) =>
    server.registerResource(name, uri, { description: `Fixture ${name}`, mimeType }, () => ({
      contents: [{ uri, mimeType, ...contents }],
    }));
  fixed('static-text', 'test://static-text', 'text/plain', {
    text: 'This is the content of the static text resource.',
  });
  fixed('static-binary', 'test://static-binary', 'image/png', { blob: PIXEL });
  fixed('watched-resource', 'test://watched-resource', 'text/plain', { text: 'Watched.' });
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { description: 'Fixture template', mimeType: 'application/json' },
    ({ href }, { id }) => ({
      contents: [
        {
          uri: href,
          mimeType: 'application/json',
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
        },
      ],
    }),
  );
  const known = (uri: string): void => {
    if (!uri.startsWith('test://')) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Unknown resource');
  };
  server.server.setRequestHandler('resources/subscribe', ({ params }) => {
    known(params.uri);
    return {};
  });
  server.server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    known(params.uri);
    return {};
  });
}
