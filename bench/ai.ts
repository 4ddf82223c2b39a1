import { benchChat } from './ai/chat.ts';
import { benchEmbeddings } from './ai/embeddings.ts';
import { benchProcesses } from './ai/processes.ts';
import { benchProtocols } from './ai/protocols.ts';
import { benchTraces } from './ai/traces.ts';

/** What a call of a model costs on its way through the backend. Names after it choose parts. */
const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  chat: benchChat,
  protocols: benchProtocols,
  embeddings: benchEmbeddings,
  traces: benchTraces,
  processes: benchProcesses,
};

const wanted = process.argv.slice(2);
for (const name of wanted.length > 0 ? wanted : Object.keys(PARTS)) {
  const part = PARTS[name];
  if (!part) throw new Error(`there is no part ${name}: ${Object.keys(PARTS).join(', ')}`);
  await part();
}
