import { web } from '@troupe/contract';
import { statusOf, useCall } from '../../../api.ts';
import { knowledge, passage as texts } from '../../../texts/knowledge.ts';
import { Card, Notice } from '../../../ui/card.tsx';
import { Page } from '../../../ui/page.tsx';
import { Failure, Lines } from '../../../ui/states.tsx';

const back = { to: '/dashboard/knowledge', label: texts.back };

/** A passage that somebody cites, as `document.number`, with what stands before and after it. */
export function PassageView({ place }: { place: string }) {
  const dot = place.lastIndexOf('.');
  const id = dot > 0 ? place.slice(0, dot) : place;
  const wanted = Number(place.slice(dot + 1)) || 0;
  const read = useCall(
    web.knowledge.getPassage,
    { params: { id, index: String(wanted) }, query: { around: '1' } },
    { retry: false },
  );
  const passages = read.data?.passages ?? [];
  const cited = passages.find(({ index }) => index === wanted);
  if (!cited)
    return (
      <Page title={knowledge.title} back={back}>
        {statusOf(read.error) === 404 ? (
          <Notice tone="spot">{read.error?.message}</Notice>
        ) : read.error ? (
          <Failure error={read.error} retry={() => void read.refetch()} />
        ) : (
          <Lines rows={6} />
        )}
      </Page>
    );
  return (
    <Page
      title={cited.document}
      back={{ ...back, search: { collection: cited.collectionId } as never, label: cited.collection }}
      lead={[texts.where(cited.index + 1, cited.of), cited.place].filter(Boolean).join(', ')}
    >
      {passages.map(({ index, heading, text }) => (
        <Card
          key={index}
          title={
            index === wanted
              ? heading || texts.where(cited.index + 1, cited.of)
              : index < wanted
                ? texts.before
                : texts.after
          }
        >
          <p
            className={`break-words whitespace-pre-line ${index === wanted ? '' : 'text-[0.95rem] text-ink-soft'}`}
            dir="auto"
          >
            {text}
          </p>
          {index === wanted && cited.url !== null && (
            <p className="mt-3">
              <a className="link break-all" href={cited.url} rel="noreferrer noopener" target="_blank">
                {texts.original}
              </a>
            </p>
          )}
        </Card>
      ))}
    </Page>
  );
}
