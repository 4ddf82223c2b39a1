import { web, MOST_WATCHES } from '@troupe/contract';
import { plainMarkdown } from '@troupe/domain';
import { useQueries } from '@tanstack/react-query';
import { callQuery } from '../../../api.ts';
import { money, time } from '../../../format.ts';
import { teamRun as texts } from '../../../texts/teams.ts';
import { Mask } from '../../../ui/icons.tsx';
import { Lines } from '../../../ui/states.tsx';
import { useSteps } from '../conversations/conversation.ts';
import { spentOf } from '../conversations/transcript.ts';
import { linesOf } from './team-lines.ts';
import type { Member } from './team-lines.ts';

const EVERY = 15_000;
/** Members that are followed step by step. */
const MOST = MOST_WATCHES;

/** A team at work, live: what its members get, say and hand to each other, in the order in which it happened. */
export function TeamRun({ agents }: { agents: Member[] }) {
  const lists = useQueries({
    queries: agents.map(({ agentId: id }) =>
      callQuery(web.conversations.list, { params: { id }, query: { limit: '1' } }, EVERY),
    ),
  });
  const newest = agents.flatMap((member, index) => {
    const session = lists[index]?.data?.sessions[0];
    return session ? [{ member, at: session.updatedAt, sessionId: session.id, lastSeq: session.lastSeq }] : [];
  });
  const shown = newest.toSorted((a, b) => b.at.localeCompare(a.at)).slice(0, MOST);
  const reads = useSteps(shown.map(({ member, ...ref }) => ({ agentId: member.agentId, ...ref })));
  const works = shown.map(({ member }, index) => ({ member, steps: reads[index] ?? [] }));
  const lines = linesOf(works);
  if (lists.some(({ isPending }) => isPending) || reads.includes(undefined)) return <Lines rows={2} />;
  return (
    <section className="mt-5 border-t border-line pt-4">
      <h3 className="font-semibold">{texts.title}</h3>
      <p className="text-[0.9rem] text-ink-faint">{lines.length === 0 ? texts.none : texts.hint}</p>
      {lines.length > 0 && (
        <>
          <p className="num mt-2 flex flex-wrap gap-x-4 text-[0.9rem] text-ink-soft">
            {works.map(({ member, steps }) => (
              <span key={member.agentId}>{texts.spent(member.name, money(spentOf(steps).costMicros / 1e6))}</span>
            ))}
          </p>
          <ol
            tabIndex={0}
            aria-label={texts.title}
            className="mt-3 flex max-h-96 flex-col overflow-y-auto rounded-xl border border-line"
          >
            {lines.map((line) => (
              <li key={line.key} className="flex gap-3 border-b border-line px-3 py-2 last:border-0">
                <Mask seed={line.member.agentId} size={26} />
                <div className="min-w-0 flex-1">
                  <p className="text-[0.9rem]">
                    <span className="font-medium">{line.member.name}</span> {line.what}
                    <span className="num float-right pl-3 text-[0.8rem] text-ink-faint">{time(line.at)}</span>
                  </p>
                  {line.text && (
                    <p className="line-clamp-3 text-[0.9rem] break-words text-ink-soft">{plainMarkdown(line.text)}</p>
                  )}
                </div>
              </li>
            ))}
          </ol>
        </>
      )}
    </section>
  );
}
