import { benchDocuments } from './knowledge/documents.ts';
import { benchMemories } from './knowledge/memories.ts';
import { benchRecall } from './knowledge/recall.ts';

/** What is found in documents and memories, and how fast. Names after it choose parts. */
const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  documents: benchDocuments,
  memories: benchMemories,
  recall: benchRecall,
};

const wanted = process.argv.slice(2);
for (const name of wanted.length > 0 ? wanted : Object.keys(PARTS)) {
  const part = PARTS[name];
  if (!part) throw new Error(`there is no part ${name}: ${Object.keys(PARTS).join(', ')}`);
  await part();
}
