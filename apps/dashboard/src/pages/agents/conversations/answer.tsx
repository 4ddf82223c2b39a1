import { web } from '@troupe/contract';
import { useMemo } from 'react';
import { call } from '../../../api.ts';
import type { TextFiles } from '../../../ui/markdown-files.tsx';
import { Markdown } from '../../../ui/markdown.tsx';
import { isPicture } from '../files/paths.ts';
import { fileUrl } from './attach.tsx';
import type { TurnActions } from './turn-actions.ts';

export type OfAgent = Pick<TurnActions, 'agentId' | 'onOpen'>;

const filesOf = ({ agentId, onOpen }: OfAgent): TextFiles => ({
  picture: (path) => (isPicture(path) ? fileUrl(agentId, path, true) : undefined),
  open: onOpen,
  async save(path, text) {
    const query = { path, fresh: 'true' as const };
    return (await call(web.files.put, { params: { id: agentId }, query, bytes: new Blob([text]) })).path;
  },
});

/** What an agent says: what it names of its workspace is shown and opened. `of`: unknown while it is being written. */
export function Answer({ text, of }: { text: string; of: OfAgent | undefined }) {
  const files = useMemo(() => of && filesOf(of), [of]);
  return <Markdown text={text} files={files} />;
}
