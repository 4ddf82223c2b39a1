import { createInterface } from 'node:readline';
import { createTransport, errorText, eventsOf } from '@troupe/client';
import { Problem, usage } from '../problem.mjs';
import { findAgent } from './agents.mjs';

/** @typedef {import('../context.d.mts').Context} Context */
/** @typedef {(message: string) => AsyncGenerator<string, unknown>} Say */

const ANSWER_TIMEOUT_MS = 15 * 60_000;

/** @param {Context} context */
export async function chat(context) {
  const { words, options, output, account, signal } = context;
  const { key, device } = await account();
  const asDevice = key === undefined && device !== undefined;
  // A device has one agent: all words are what is said to it.
  const [said, topic] = [(asDevice ? words : words.slice(1)).join(' '), options['topic']];
  const named = typeof topic === 'string' ? { topic } : {};
  /** @type {Say} */
  const say = asDevice ? bySocket(device, named, signal) : await byPlatform(context, named);
  if (said !== '') return answer(say, said, output);
  if (process.stdin.isTTY) return converse(say, output, signal);
  const piped = await pipedIn();
  if (piped.trim() === '') throw usage('What is said?');
  return answer(say, piped, output);
}

/**
 * @param {Context} context
 * @param {{ topic?: string }} named
 * @returns {Promise<Say>}
 */
async function byPlatform({ words, troupe: connect, signal }, named) {
  const troupe = await connect();
  const { id } = await findAgent(troupe, words[0], signal);
  return (message) => troupe.talk({ message, agentId: id, signal, ...named });
}

/**
 * Over the agent's own gateway.
 * @param {{ agentUrl: string, token: string }} device
 * @param {{ topic?: string }} named
 * @param {AbortSignal} signal
 * @returns {Say}
 */
function bySocket({ agentUrl, token }, { topic }, signal) {
  const headers = { authorization: `Bearer ${token}` };
  const send = createTransport({ baseUrl: agentUrl, headers: () => headers, timeout: ANSWER_TIMEOUT_MS });
  return async function* (message) {
    const body = { messages: [{ role: 'user', content: message }], stream: true, ...(topic && { user: topic }) };
    const response = await send({ method: 'POST', path: '/v1/chat/completions' }, { body, signal });
    for await (const { data } of eventsOf(response)) {
      if (data === '[DONE]') return;
      const chunk = JSON.parse(data);
      if (chunk.error !== undefined) throw new Problem(errorText(chunk.error) ?? 'The answer broke off');
      yield chunk.choices?.[0]?.delta?.content ?? '';
    }
  };
}

/**
 * @param {Say} say
 * @param {string} message
 * @param {import('../output.mjs').Output} output
 */
async function answer(say, message, output) {
  let reply = '';
  for await (const text of say(message)) {
    reply += text;
    if (!output.json) output.write(text);
  }
  output.show({ reply }, () => output.line(''));
}

/**
 * Line by line, until the end of the input.
 * @param {Say} say
 * @param {import('../output.mjs').Output} output
 * @param {AbortSignal} signal
 */
async function converse(say, output, signal) {
  const lines = createInterface({ input: process.stdin, output: process.stderr, prompt: '> ' });
  signal.addEventListener('abort', () => lines.close());
  lines.prompt();
  for await (const line of lines) {
    if (line.trim() !== '') await answer(say, line, output);
    lines.prompt();
  }
}

async function pipedIn() {
  let text = '';
  for await (const part of process.stdin.setEncoding('utf8')) text += part;
  return text;
}
