import { web } from '@troupe/contract';
import type { SessionHead } from '@troupe/contract';
import { Link } from '@tanstack/react-router';
import { useCall } from '../../../api.ts';
import { ago, moment } from '../../../format.ts';
import { sessions as sessionTexts, work as texts } from '../../../texts/work.ts';
import { Card, Status } from '../../../ui/card.tsx';
import { cx } from '../../../ui/cx.ts';
import { Empty, Loaded } from '../../../ui/states.tsx';
import { Segments } from '../../../ui/tabs.tsx';
import { newestAddress } from '../runs/run-name.ts';
import { entriesShown, type Entry } from './log-entries.ts';
import { logWords } from './log-words.ts';
import { COLOURS, Logs, useLiveLogs } from './logs.tsx';
import { Messages } from './messages.tsx';
import { Sessions } from './sessions.tsx';
import { Costs, Today } from './stats.tsx';
import { timelineOf, type Event } from './timeline.ts';

const VIEWS = ['all', 'conversations', 'messages', 'log', 'cost'] as const;
export type View = (typeof VIEWS)[number];

/** What the agent did and does, in one timeline; parts of it alone, for whoever looks for something. */
export function Work({
  agentId,
  view,
  onView,
}: {
  agentId: string;
  view: string | undefined;
  onView: (view: View) => void;
}) {
  const shown = VIEWS.find((known) => known === view) ?? 'all';
  return (
    <div className="flex flex-col gap-5">
      <Today agentId={agentId} />
      <div className="overflow-x-auto [scrollbar-width:none]">
        <Segments
          label={texts.show}
          value={shown}
          onChange={(next) => onView(next as View)}
          choices={VIEWS.map((value) => ({ value, label: texts.views[value] }))}
        />
      </div>
      {shown === 'all' && <Timeline agentId={agentId} />}
      {shown === 'conversations' && <Sessions agentId={agentId} />}
      {shown === 'messages' && <Messages agentId={agentId} />}
      {shown === 'log' && <Logs agentId={agentId} />}
      {shown === 'cost' && <Costs agentId={agentId} />}
    </div>
  );
}

function Timeline({ agentId }: { agentId: string }) {
  const params = { id: agentId };
  const sessions = useCall(web.conversations.list, { params, query: { limit: '100' } }, { every: 20_000 });
  const logs = useCall(web.agents.getLogs, { params, query: { limit: '100' } });
  const { fresh } = useLiveLogs(agentId);
  return (
    <Card title={texts.timeline} hint={texts.hint}>
      <Loaded from={sessions} rows={6}>
        {({ sessions: heads }) => {
          const events = timelineOf(heads, entriesShown(fresh, logs.data?.logs ?? [], ''));
          if (events.length === 0) return <Empty title={texts.empty}>{texts.emptyHint}</Empty>;
          return (
            <ol aria-label={texts.timeline} className="flex flex-col divide-y divide-line">
              {events.map((event) => (
                <Line key={event.key} agentId={agentId} event={event} />
              ))}
            </ol>
          );
        }}
      </Loaded>
    </Card>
  );
}

function Line({ agentId, event }: { agentId: string; event: Event }) {
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_auto] items-baseline gap-x-4 gap-y-1 py-2.5 sm:grid-cols-[8rem_minmax(0,1fr)_auto]">
      <span className="num text-[0.85rem] text-ink-faint max-sm:col-span-2" title={moment(event.at)}>
        {ago(event.at)}
      </span>
      {event.kind === 'log' ? <Logged entry={event.entry} /> : <Talked agentId={agentId} session={event.session} />}
    </li>
  );
}

function Talked({ agentId, session }: { agentId: string; session: SessionHead }) {
  const { id, channel, status, lastSeq } = session;
  // What agents write to each other begins with how it was sent.
  const title = channel === 'bus' ? '' : (session.title ?? '').trim();
  return (
    <>
      <span className="min-w-0">
        <Link
          to={newestAddress({ agentId, sessionId: id })}
          className="font-medium break-words hover:underline"
          dir="auto"
        >
          {title || sessionTexts.channels[channel] || channel}
        </Link>
        <span className="block text-[0.88rem] text-ink-soft">
          {[title && (sessionTexts.channels[channel] ?? channel), texts.steps(lastSeq)].filter(Boolean).join(' · ')}
        </span>
      </span>
      <Status value={status} text={sessionTexts.states[status]} />
    </>
  );
}

function Logged({ entry }: { entry: Entry }) {
  const { text, tool } = logWords(entry.message);
  return (
    <>
      <span title={tool} className="min-w-0 text-[0.92rem] break-words whitespace-pre-wrap text-ink-soft">
        {text}
      </span>
      {/* That something went as it should needs no mark. */}
      <span className={cx('text-[0.85rem]', COLOURS[entry.level])}>{texts.levels[entry.level]}</span>
    </>
  );
}
