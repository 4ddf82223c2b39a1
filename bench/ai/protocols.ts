import { finish, printTable } from '../lib/report.ts';
import { against, median, pairedRatio } from '../lib/sides.ts';
import { CALLER, CHAT, cpuInTurns, inTurns, startBackend, startUpstream } from './setup.ts';

/** The same through each protocol that the backend speaks, as calls a second. */

const SAID = 'Say something short about the sea, and then something shorter.';
const SYSTEM = 'You are a helpful assistant.';
const { model, temperature } = CHAT;
const FACES = {
  chat: { path: '/v1/chat/completions', body: CHAT },
  messages: {
    path: '/v1/messages',
    body: { model, system: SYSTEM, messages: [{ role: 'user', content: SAID }], temperature, max_tokens: 200 },
  },
  responses: {
    path: '/v1/responses',
    body: { model, instructions: SYSTEM, input: SAID, temperature, max_output_tokens: 200 },
  },
};
type FaceName = keyof typeof FACES;
const FACE_NAMES = Object.keys(FACES) as FaceName[];

const sideOf = (address: string, { path, body }: (typeof FACES)[FaceName], stream = false) => ({
  url: address + path,
  headers: CALLER,
  body: JSON.stringify({ ...body, ...(stream && { stream: true }) }),
});

async function compare(address: string, stream: boolean): Promise<Record<FaceName, number[]>> {
  const side = (face: (typeof FACES)[FaceName]) => sideOf(address, face, stream);
  const { chat, messages, responses } = FACES;
  const results = await inTurns({ chat: side(chat), messages: side(messages), responses: side(responses) });
  printTable(
    `Protocols${stream ? ', streamed' : ''}, 64 connections`,
    FACE_NAMES.map((name) => ({
      protocol: name,
      'per second': median(results[name]),
      'of chat': pairedRatio(results[name], results.chat),
    })),
  );
  return results;
}

export async function benchProtocols(): Promise<void> {
  const upstream = await startUpstream();
  const ours = await startBackend(upstream);
  try {
    const whole = await compare(ours.address, false);
    const streamed = await compare(ours.address, true);
    const measured = (name: FaceName) => ({ service: ours, ...sideOf(ours.address, FACES[name]) });
    const cpu = await cpuInTurns({
      chat: measured('chat'),
      messages: measured('messages'),
      responses: measured('responses'),
    });
    finish(
      'ai protocols',
      [
        { figure: 'messages_vs_chat', ...against(whole.messages, whole.chat), atLeast: 0.9 },
        { figure: 'responses_vs_chat', ...against(whole.responses, whole.chat), atLeast: 0.9 },
      ],
      {
        messages_streams_vs_chat: pairedRatio(streamed.messages, streamed.chat),
        responses_streams_vs_chat: pairedRatio(streamed.responses, streamed.chat),
        cpu_ms_chat: median(cpu.chat),
        cpu_ms_messages: median(cpu.messages),
        cpu_ms_responses: median(cpu.responses),
      },
    );
  } finally {
    await ours.stop();
    await upstream.stop();
  }
}
