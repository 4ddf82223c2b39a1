import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { fileOf } from '../../../addresses.ts';
import { runs as texts } from '../../../texts/runs.ts';
import { Failure, Lines } from '../../../ui/states.tsx';
import { readSteps } from '../conversations/conversation.ts';
import { Block } from './block.tsx';
import { fileThen } from './files-then.ts';

/** So far back a conversation is looked through. */
const LOOKED_AT = 2000;

interface Moment {
  agentId: string;
  sessionId: string;
  seq: number;
}

/** Files that the run had written by a step, each with what was in it then. */
export function FilesThen({ files, at }: { files: readonly string[]; at: Moment }) {
  if (files.length === 0) return null;
  return (
    <>
      <p className="mt-1">{`${texts.files}:`}</p>
      <ul className="flex flex-col gap-1">
        {files.map((path) => (
          <li key={path}>
            <File path={path} at={at} />
          </li>
        ))}
      </ul>
    </>
  );
}

function File({ path, at }: { path: string; at: Moment }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="cursor-pointer wrap-anywhere" dir="auto">
        {path}
      </summary>
      {isOpen && <Content path={path} at={at} />}
    </details>
  );
}

function Content({ path, at }: { path: string; at: Moment }) {
  const { agentId, sessionId, seq } = at;
  const read = useQuery({
    queryKey: ['steps-until', agentId, sessionId, seq],
    queryFn: () => readSteps({ agentId, sessionId }, Math.max(0, seq - LOOKED_AT), seq),
    // What has happened stays so.
    staleTime: Infinity,
  });
  if (read.error) return <Failure error={read.error} retry={() => void read.refetch()} />;
  if (!read.data) return <Lines rows={3} />;
  const found = fileThen(read.data, path);
  return (
    <div className="mt-1 mb-3 flex flex-col gap-1">
      {found.kind === 'text' && (
        <>
          <Block label={texts.fileThen(path)} text={found.text} />
          <p>{found.unsure ? texts.fileUnsure : texts.fileSure}</p>
        </>
      )}
      {found.kind === 'removed' && <p>{texts.fileRemoved}</p>}
      {found.kind === 'unknown' && <p>{texts.fileUnknown}</p>}
      <p>
        <Link className="link" to={`/dashboard/agents/${agentId}`} search={{ tab: 'files', ...fileOf(path) } as never}>
          {texts.fileNow}
        </Link>
      </p>
    </div>
  );
}
