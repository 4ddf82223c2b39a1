import { open } from '../../../api.ts';
import { web } from '@troupe/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { files as texts } from '../../../texts/talk.ts';
import { SaveButton } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/card.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Markdown } from '../../../ui/markdown.tsx';
import { Failure, Lines } from '../../../ui/states.tsx';
import { Segments } from '../../../ui/tabs.tsx';
import { fileUrl } from '../conversations/attach.tsx';
import { readCsv } from './csv.ts';
import { Looked } from './looked.tsx';
import { endOf, isPicture, nameOf } from './paths.ts';

/** Characters of a text that are shown. */
const MOST = 200_000;
const MOST_BYTES = 2 * 1024 * 1024;

const LOOKED_INTO = new Set(['pdf', 'zip', 'tar', 'tgz', 'gz']);

/** A file as it can be looked at: nothing of it runs, whatever it holds. */
export function FileDialog({ agentId, path, onClose }: { agentId: string; path: string; onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} title={nameOf(path)} hint={path === nameOf(path) ? undefined : path} wide>
      <div className="flex flex-col gap-4">
        {isPicture(path) ? (
          <img
            src={fileUrl(agentId, path, true)}
            alt={nameOf(path)}
            className="max-h-[60dvh] self-center rounded-lg object-contain"
          />
        ) : LOOKED_INTO.has(endOf(path)) ? (
          <Looked agentId={agentId} path={path} />
        ) : (
          <Text agentId={agentId} path={path} />
        )}
        <div>
          <SaveButton href={fileUrl(agentId, path)} as={nameOf(path)}>
            {texts.download}
          </SaveButton>
        </div>
      </div>
    </Dialog>
  );
}

type Read = { text: string; cut: boolean } | { refused: string } | { other: true };

/** The beginning of a file as text; bytes that are none are said to be so. */
async function readText(agentId: string, path: string, signal: AbortSignal): Promise<Read> {
  const answer = await open(web.files.read, { params: { id: agentId }, query: { path, show: 'true' }, signal });
  if (Number(answer.headers.get('content-length') ?? 0) > MOST_BYTES) {
    await answer.body?.cancel();
    return { refused: texts.tooLarge };
  }
  const text = await answer.text();
  if (text.slice(0, 4000).includes('\0')) return { other: true };
  return { text: text.slice(0, MOST), cut: text.length > MOST };
}

function Text({ agentId, path }: { agentId: string; path: string }) {
  const read = useQuery({
    queryKey: ['file', agentId, path],
    queryFn: ({ signal }) => readText(agentId, path, signal),
    gcTime: 0,
  });
  if (!read.data)
    return read.error ? <Failure error={read.error} retry={() => void read.refetch()} /> : <Lines rows={6} />;
  // The name says nothing, the bytes may.
  if ('other' in read.data) return <Looked agentId={agentId} path={path} />;
  if ('refused' in read.data) return <Notice tone="spot">{read.data.refused}</Notice>;
  return (
    <>
      <Shown text={read.data.text} path={path} />
      {read.data.cut && <Notice tone="spot">{texts.cut}</Notice>}
    </>
  );
}

function Shown({ text, path }: { text: string; path: string }) {
  const kind = { md: 'markdown', markdown: 'markdown', csv: 'table', tsv: 'table', html: 'page', htm: 'page' }[
    endOf(path)
  ];
  const [view, setView] = useState(kind === undefined ? 'source' : 'preview');
  return (
    <>
      {kind !== undefined && (
        <Segments
          label={texts.preview}
          value={view}
          onChange={setView}
          choices={[
            { value: 'preview', label: texts.preview },
            { value: 'source', label: texts.source },
          ]}
        />
      )}
      {view === 'source' ? (
        <pre
          tabIndex={0}
          dir="auto"
          aria-label={texts.source}
          className="max-h-[60dvh] overflow-auto rounded-lg bg-sunken p-3 font-mono text-[0.85rem] break-words whitespace-pre-wrap"
        >
          {text}
        </pre>
      ) : kind === 'page' ? (
        // On no origin and without a single right: scripts, forms, links and pictures of others do nothing in it.
        <iframe
          sandbox=""
          srcDoc={text}
          title={texts.page(nameOf(path))}
          className="h-[60dvh] w-full rounded-lg border border-line bg-[#fff]"
        />
      ) : kind === 'table' ? (
        <Csv text={text} separator={endOf(path) === 'tsv' ? '\t' : ','} />
      ) : (
        <div className="max-h-[60dvh] overflow-auto" tabIndex={0} dir="auto">
          <Markdown text={text} />
        </div>
      )}
    </>
  );
}

function Csv({ text, separator }: { text: string; separator: string }) {
  const { rows, cut } = useMemo(() => readCsv(text, separator), [text, separator]);
  const [head = [], ...body] = rows;
  return (
    <div className="max-h-[60dvh] overflow-auto rounded-lg border border-line" tabIndex={0}>
      <table className="w-full text-left text-[0.9rem]">
        <thead className="sticky top-0 bg-sunken">
          <tr>
            {head.map((cell, index) => (
              <th key={index} dir="auto" className="px-3 py-1.5 font-semibold whitespace-nowrap">
                {cell}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {body.map((cells, row) => (
            <tr key={row} className="border-t border-line">
              {cells.map((cell, index) => (
                <td key={index} dir="auto" className="px-3 py-1 align-top">
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {cut && <p className="px-3 py-2 text-[0.87rem] text-ink-faint">{texts.cut}</p>}
    </div>
  );
}
