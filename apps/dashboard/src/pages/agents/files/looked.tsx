import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useCall } from '../../../api.ts';
import { bytes } from '../../../format.ts';
import { files as texts } from '../../../texts/talk.ts';
import { Notice } from '../../../ui/card.tsx';
import { Icon } from '../../../ui/icons.tsx';
import { Failure, Lines } from '../../../ui/states.tsx';

type Preview = TypesOf<typeof web.files.preview>['reply'];

/** What is neither text nor a picture: the words of a PDF, what is in an archive. The agent's side read it; nothing of it runs here. */
export function Looked({ agentId, path }: { agentId: string; path: string }) {
  const read = useCall(web.files.preview, { params: { id: agentId }, query: { path } });
  if (!read.data)
    return read.error ? <Failure error={read.error} retry={() => void read.refetch()} /> : <Lines rows={6} />;
  const { pages, entries, note, more } = read.data;
  if (note !== undefined) return <Notice tone="spot">{texts.unread(note)}</Notice>;
  if (!pages && !entries) return <Notice tone="spot">{texts.noPreview}</Notice>;
  return (
    <>
      {pages && <Pages pages={pages} />}
      {entries && <Inside {...read.data} entries={entries} />}
      {more && <Notice tone="spot">{texts.cut}</Notice>}
    </>
  );
}

function Pages({ pages }: { pages: string[] }) {
  return (
    <div
      tabIndex={0}
      role="region"
      aria-label={texts.pages}
      className="flex max-h-[60dvh] flex-col gap-3 overflow-auto rounded-lg bg-sunken p-3"
    >
      {pages.map((words, index) => (
        <section key={index} aria-label={texts.pageNumber(index + 1)} className="rounded-md bg-surface p-4">
          <p className="mb-2 text-[0.8rem] text-ink-faint">{texts.pageNumber(index + 1)}</p>
          <p dir="auto" className="break-words whitespace-pre-wrap">
            {words || texts.noWords}
          </p>
        </section>
      ))}
    </div>
  );
}

function Inside({ entries, total = entries.length }: Preview & { entries: NonNullable<Preview['entries']> }) {
  return (
    <>
      <p className="text-[0.9rem] text-ink-soft">
        {texts.inside(total, bytes(entries.reduce((sum, { bytes: size }) => sum + size, 0)))}
      </p>
      <div
        tabIndex={0}
        role="region"
        aria-label={texts.insideLabel}
        className="max-h-[60dvh] overflow-auto rounded-lg border border-line"
      >
        <ul className="divide-y divide-line text-[0.9rem]">
          {entries.map(({ path, kind, bytes: size }, index) => (
            <li key={index} className="flex items-center gap-2 px-3 py-1.5">
              <Icon name={kind === 'folder' ? 'folder' : 'file'} size={16} />
              <bdi className="min-w-0 flex-1 break-all">{path}</bdi>
              <span className="shrink-0 text-ink-faint">{kind === 'file' ? bytes(size) : texts.kinds[kind]}</span>
            </li>
          ))}
        </ul>
      </div>
    </>
  );
}
