import { web } from '@troupe/contract';
import { useQuery } from '@tanstack/react-query';
import { call, open } from '../../../api.ts';
import { lineDiff } from '../skills/line-diff.ts';
import type { DiffLine } from '../skills/line-diff.ts';

/** What is in the file that a call would write: nothing, a text, or something that is not compared. */
export type Before = { is: 'new' } | { is: 'text'; text: string } | { is: 'other' };

const MOST_BYTES = 256 * 1024;
/** Each folder on the way is looked into once. */
const MOST_FOLDERS = 8;
/** Lines around a change that are shown. */
const AROUND = 3;

async function readBefore(agentId: string, path: string, signal: AbortSignal): Promise<Before> {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.length === 0 || parts.length > MOST_FOLDERS || parts.includes('..')) return { is: 'other' };
  const params = { id: agentId };
  let bytes = 0;
  for (const [index, name] of parts.entries()) {
    const folder = parts.slice(0, index).join('/') || '.';
    const { entries, more } = await call(web.files.list, { params, query: { path: folder }, signal });
    const found = entries.find((entry) => entry.name === name);
    if (!found) return { is: more ? 'other' : 'new' };
    if (found.kind !== (index === parts.length - 1 ? 'file' : 'folder')) return { is: 'other' };
    ({ bytes } = found);
  }
  if (bytes > MOST_BYTES) return { is: 'other' };
  const answer = await open(web.files.read, { params, query: { path: parts.join('/'), show: 'true' }, signal });
  // It may have grown since.
  if (Number(answer.headers.get('content-length') ?? 0) > MOST_BYTES) {
    await answer.body?.cancel();
    return { is: 'other' };
  }
  const text = await answer.text();
  return text.includes('\0') ? { is: 'other' } : { is: 'text', text };
}

/** Read once, while somebody decides. */
export const useBefore = (agentId: string, path: string) =>
  useQuery({
    queryKey: ['before', agentId, path],
    queryFn: ({ signal }) => readBefore(agentId, path, signal),
    retry: false,
    staleTime: Infinity,
    gcTime: 0,
  });

export interface Change {
  kind: DiffLine['kind'] | 'left out';
  lines: string[];
}

/** Lines that go together; of those that stay the same only what stands around a change. */
export function changesOf(before: string, after: string): Change[] {
  const found: Change[] = [];
  for (const { kind, text } of lineDiff(before, after)) {
    const last = found.at(-1);
    if (last?.kind === kind) last.lines.push(text);
    else found.push({ kind, lines: [text] });
  }
  return found.flatMap((change, index) => {
    const { kind, lines } = change;
    const head = index === 0 ? 0 : AROUND;
    const tail = index === found.length - 1 ? 0 : AROUND;
    if (kind !== 'same' || lines.length <= head + tail + 1) return [change];
    const parts: Change[] = [
      { kind, lines: lines.slice(0, head) },
      { kind: 'left out', lines: lines.slice(head, lines.length - tail) },
      { kind, lines: lines.slice(lines.length - tail) },
    ];
    return parts.filter((part) => part.lines.length > 0);
  });
}
