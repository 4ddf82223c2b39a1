import { web } from '@troupe/contract';
import { useParams } from '@tanstack/react-router';
import { statusOf, useCall } from '../../../api.ts';
import { day } from '../../../format.ts';
import { sharedPage as texts } from '../../../texts/talk.ts';
import { Notice } from '../../../ui/card.tsx';
import { Markdown } from '../../../ui/markdown.tsx';
import { Failure, Lines } from '../../../ui/states.tsx';
import { PublicFrame } from '../../../shell/public-frame.tsx';

/** A conversation that somebody shows: words alone, as they were when the link was made. */
export default function Shared() {
  const { token } = useParams({ strict: false }) as { token: string };
  const read = useCall(web.shares.read, { params: { token } }, { retry: false });
  const shown = read.data;
  return (
    <PublicFrame title={shown?.title || texts.title}>
      <div className="mx-auto flex w-full max-w-3xl flex-1 flex-col gap-6 px-4 py-8">
        <div>
          <h1 className="text-[1.7rem] leading-tight font-semibold" dir="auto">
            {shown ? shown.title || texts.title : statusOf(read.error) === 404 ? texts.gone : texts.title}
          </h1>
          {shown && <p className="mt-1 text-ink-soft">{texts.lead(shown.agent, day(shown.createdAt))}</p>}
        </div>
        {!shown && !read.error && <Lines rows={6} />}
        {read.error &&
          (statusOf(read.error) === 404 ? (
            <Notice tone="spot">{read.error.message}</Notice>
          ) : (
            <Failure error={read.error} retry={() => void read.refetch()} />
          ))}
        {shown?.messages.map(({ role, text, at }, index) => (
          <article key={`${at} ${index}`} className="flex flex-col gap-1">
            <h2 className="font-sans text-[0.85rem] font-semibold text-ink-faint">
              {role === 'user' ? texts.you : shown.agent}
            </h2>
            <div dir="auto" className={role === 'user' ? 'whitespace-pre-wrap' : ''}>
              {role === 'user' ? text : <Markdown text={text} />}
            </div>
          </article>
        ))}
      </div>
    </PublicFrame>
  );
}
