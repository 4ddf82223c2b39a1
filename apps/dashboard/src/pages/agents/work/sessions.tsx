import { web } from '@troupe/contract';
import type { SessionStep, TypesOf } from '@troupe/contract';
import { plainMarkdown, toolAlone } from '@troupe/domain';
import { useMemo, useState } from 'react';
import { useCall } from '../../../api.ts';
import { ago, duration, money, short, time } from '../../../format.ts';
import { chat } from '../../../texts/agents.ts';
import { runs } from '../../../texts/runs.ts';
import { sessions as texts } from '../../../texts/work.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, FigureRow, Status } from '../../../ui/card.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Empty, Loaded } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';
import { useAgentNames } from '../agents/names.ts';
import { readBusMessage } from '../conversations/bus-message.ts';
import { useConversation } from '../conversations/conversation.ts';
import { isKnownTool, toolLine } from '../conversations/tool-words.ts';
import { spentOf } from '../conversations/transcript.ts';

const { outcomes } = runs;
const channelName = (channel: string) => texts.channels[channel] ?? channel;

type Session = TypesOf<typeof web.conversations.list>['reply']['sessions'][number];

export function Sessions({ agentId }: { agentId: string }) {
  const read = useCall(web.conversations.list, { params: { id: agentId }, query: { limit: '100' } }, { every: 20_000 });
  const [looking, setLooking] = useState<Session>();
  return (
    <Card title={texts.title} hint={texts.hint} flush className="overflow-hidden">
      <Table
        label={texts.title}
        rows={read.data?.sessions}
        rowKey={({ id }) => id}
        error={read.error}
        retry={() => void read.refetch()}
        find={({ channel, key }) => `${channel} ${key}`}
        empty={<Empty title={texts.empty} />}
        columns={[
          {
            key: 'channel',
            header: texts.channel,
            cell: ({ channel }) => <span className="font-medium">{channelName(channel)}</span>,
          },
          {
            key: 'status',
            header: texts.status,
            cell: ({ status }) => <Status value={status} text={texts.states[status]} />,
          },
          {
            key: 'steps',
            header: texts.steps,
            end: true,
            sort: ({ lastSeq }) => lastSeq,
            cell: ({ lastSeq }) => lastSeq,
          },
          { key: 'started', header: texts.started, cell: ({ createdAt }) => ago(createdAt) },
          {
            key: 'updated',
            header: texts.updated,
            sort: ({ updatedAt }) => updatedAt,
            cell: ({ updatedAt }) => ago(updatedAt),
          },
          {
            key: 'open',
            header: '',
            end: true,
            cell: (session) => (
              <Button small onClick={() => setLooking(session)}>
                {texts.open}
              </Button>
            ),
          },
        ]}
      />
      {looking && <Trace agentId={agentId} session={looking} onClose={() => setLooking(undefined)} />}
    </Card>
  );
}

/** Every step of a session, with what it cost. */
function Trace({ agentId, session, onClose }: { agentId: string; session: Session; onClose: () => void }) {
  const { id: sessionId, lastSeq } = session;
  const read = useConversation({ agentId, sessionId, lastSeq });
  return (
    <Dialog open onClose={onClose} title={texts.trace} hint={channelName(session.channel)} wide>
      <Loaded from={{ ...read, data: read.steps }} rows={6}>
        {(events) => {
          const total = spentOf(events);
          return (
            <div className="flex flex-col gap-4">
              <FigureRow
                items={[
                  [texts.cost, money(total.costMicros / 1e6)],
                  [texts.tokens, short(total.tokens)],
                  [texts.time, duration(total.ms)],
                  [texts.steps, events.at(-1)?.seq ?? 0],
                ]}
              />
              {read.hasOlder && (
                <Button small className="self-center" onClick={() => void read.older()}>
                  {texts.older}
                </Button>
              )}
              <TraceSteps steps={events} />
            </div>
          );
        }}
      </Loaded>
    </Dialog>
  );
}

function TraceSteps({ steps }: { steps: readonly SessionStep[] }) {
  const args = useMemo(() => argsOfCalls(steps), [steps]);
  return (
    <ol className="flex flex-col">
      {steps.map((step) => (
        <TraceStep key={step.seq} step={step} args={step.args ?? args.get(step.callId ?? '')} />
      ))}
    </ol>
  );
}

/** A result says which call it belongs to, not what that was about. */
const argsOfCalls = (steps: readonly SessionStep[]): ReadonlyMap<string, string> =>
  new Map(steps.flatMap(({ toolCalls = [] }) => toolCalls.map(({ callId, args }) => [callId, args] as const)));

/** What was called, in words. */
function callsOf({ tool, toolCalls = [] }: SessionStep, args: string | undefined): string {
  if (tool !== undefined) return args === undefined ? toolAlone(tool) : toolLine(tool, args);
  return toolCalls.map((call) => toolLine(call.tool, call.args)).join(', ');
}

/** What a step says beside its name. The arguments of a call that is said in words are in those. */
function textOf({ tool, args = '', content, summary, reason, approved, outcome = '' }: SessionStep): string {
  if (approved !== undefined) return approved ? chat.approved : chat.denied;
  const said = content || summary;
  if (said) return tool === undefined ? plainMarkdown(said) : said;
  return reason || (isKnownTool(tool) ? '' : args) || outcomes[outcome] || outcome;
}

function TraceStep({ step, args }: { step: SessionStep; args: string | undefined }) {
  const { nameOf } = useAgentNames();
  const bus = step.type === 'user' && step.content ? readBusMessage(step.content) : undefined;
  const text = bus?.text || textOf(step);
  const calls = callsOf(step, args);
  return (
    <li className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 border-l-2 border-line py-2 pl-4 sm:grid-cols-[5.5rem_minmax(0,1fr)_auto]">
      <span className="num text-[0.82rem] text-ink-faint">{time(step.at)}</span>
      <div className="min-w-0">
        <p className="text-[0.9rem] font-medium">
          {bus ? nameOf(bus.from) : (texts.step[step.type] ?? step.type)}
          {calls !== '' && (
            <bdi
              title={step.tool ?? step.toolCalls?.map(({ tool }) => tool).join(', ')}
              className="ml-2 font-normal text-ink-soft"
            >
              {calls}
            </bdi>
          )}
        </p>
        {text && <p className="line-clamp-6 text-[0.9rem] break-words whitespace-pre-wrap text-ink-soft">{text}</p>}
      </div>
      {step.spent && step.type !== 'run_ended' && step.spent.tokens > 0 && (
        <span className="num text-[0.82rem] text-ink-faint max-sm:col-start-2">
          {money(step.spent.costMicros / 1e6)} · {texts.tokenCount(short(step.spent.tokens))}
        </span>
      )}
    </li>
  );
}
