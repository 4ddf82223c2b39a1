import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { peer } from '../lib/peers.ts';

/**
 * One Mastra agent as its documentation says: message history and working memory in LibSQL, kept in a file as its memory
 * guide does for a server. In its favour: nothing checks a key or meters a call, and a bare node:http server stands in
 * front of it instead of Mastra's own.
 */

interface MastraAgent {
  generate: (message: string, options: object) => Promise<{ text: string }>;
}
type Make<T = unknown> = new (options: object) => T;

const { Mastra } = await peer<{ Mastra: Make<{ getAgent: (name: string) => MastraAgent }> }>('@mastra/core');
const { Agent } = await peer<{ Agent: Make }>('@mastra/core/agent');
const { Memory } = await peer<{ Memory: Make }>('@mastra/memory');
const { LibSQLStore } = await peer<{ LibSQLStore: Make }>('@mastra/libsql');

const folder = mkdtempSync(path.join(tmpdir(), 'bench-mastra-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

const mastra = new Mastra({
  storage: new LibSQLStore({ id: 'bench', url: `file:${path.join(folder, 'mastra.db')}` }),
  logger: false,
  agents: {
    bench: new Agent({
      id: 'bench',
      name: 'Bench',
      instructions: 'You are a capable, honest assistant that gets things done.',
      model: { id: 'openai/gpt-4o-mini', url: `${process.env['UPSTREAM']}/v1`, apiKey: 'bench' },
      memory: new Memory({ options: { lastMessages: 20, workingMemory: { enabled: true } } }),
    }),
  },
});
const agent = mastra.getAgent('bench');

const server = createServer((request, response) => {
  let text = '';
  request.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
  request.on('end', () => {
    const { thread, message } = JSON.parse(text) as { thread: string; message: string };
    agent.generate(message, { memory: { thread, resource: 'bench' } }).then(
      (answer) => {
        const body = JSON.stringify({ reply: answer.text });
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
        response.end(body);
      },
      (error: unknown) => {
        console.error(error);
        response.writeHead(500, { 'content-length': 0 }).end();
      },
    );
  });
});
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }));
});
process.on('SIGTERM', () => process.exit(0));
