import { web } from '@troupe/contract';
import type { TypesOf, WebAgent } from '@troupe/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { call, stale } from '../../../api.ts';
import { duration, money } from '../../../format.ts';
import { modelName } from '../../../models.ts';
import { compare as texts } from '../../../texts/compare.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Badge, Card, Notice } from '../../../ui/card.tsx';
import { Markdown } from '../../../ui/markdown.tsx';
import { Failure, Lines } from '../../../ui/states.tsx';
import { useConversation } from '../conversations/conversation.ts';
import { spentOf, stateOf } from '../conversations/transcript.ts';
import { useWords } from '../conversations/words.ts';
import { runAddress, runName } from '../runs/run-name.ts';
import { bestOf } from './sides.ts';
import type { Measure } from './sides.ts';

type Side = TypesOf<typeof web.compare.start>['reply']['sides'][number];
type Asked = Side & { sessionId: string };

const isAsked = (side: Side): side is Asked => side.sessionId !== null;

/** A comparison is the first thing that is said in a conversation. */
const runOf = ({ agentId, sessionId }: Asked) => ({ agentId, sessionId, first: 1 });

/** Both runs step by step, at an address that can be sent on: with the first that was asked. */
function besideOf(sides: Side[], side: Asked): { to: string; number: number } | undefined {
  const at = sides.findIndex(isAsked);
  const first = sides[at];
  if (!first || !isAsked(first) || first === side) return undefined;
  return { to: `${runAddress(runOf(first))}/compare/${runName(runOf(side))}`, number: at + 1 };
}

/** Leads to the conversation; the others are put away, where they can still be found. */
function useGoOn(sides: Side[]) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [isGoing, setGoing] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const goOn = async (chosen: Asked) => {
    setGoing(true);
    try {
      for (const { agentId, sessionId } of sides.filter(isAsked))
        if (sessionId !== chosen.sessionId)
          await call(web.conversations.change, { params: { id: agentId, sessionId }, body: { archived: true } });
      await stale(queries, web.conversations.list);
      const search = { tab: 'chat', c: chosen.sessionId };
      await navigate({
        to: '/dashboard/agents/$id',
        params: { id: chosen.agentId } as never,
        search: search as never,
      });
    } catch (failed) {
      setError(failed as Error);
      setGoing(false);
    }
  };
  return { goOn, isGoing, error };
}

export function Answers({
  message,
  sides,
  agents,
  onAgain,
}: {
  message: string;
  sides: Side[];
  agents: WebAgent[];
  onAgain: () => void;
}) {
  const [measures, setMeasures] = useState<Record<number, Measure>>({});
  const { goOn, isGoing, error } = useGoOn(sides);
  const agentOf = ({ agentId }: Side) => agents.find(({ id }) => id === agentId);
  const best = bestOf(sides.map((_, index) => measures[index]));
  return (
    <div className="flex flex-col gap-5">
      <Card>
        <div className="flex flex-wrap items-start justify-between gap-3">
          <p className="max-h-40 min-w-0 flex-1 overflow-auto break-words whitespace-pre-wrap" dir="auto">
            {message}
          </p>
          <Button icon="restart" onClick={onAgain}>
            {texts.again}
          </Button>
        </div>
      </Card>
      {error && <Failure error={error} />}
      <p className="text-[0.87rem] text-ink-soft">{texts.goOnHint}</p>
      <ol className="grid grid-cols-1 gap-4 md:grid-cols-2 2xl:grid-cols-3">
        {sides.map((side, index) => (
          <li key={side.sessionId ?? `refused-${index}`} className="grid min-w-0">
            <Card
              title={<bdi>{agentOf(side)?.name ?? side.agentId}</bdi>}
              hint={modelName(side.model ?? agentOf(side)?.answers)}
            >
              {isAsked(side) ? (
                <One
                  side={side}
                  wanted={side.model ?? agentOf(side)?.answers}
                  number={index + 1}
                  beside={besideOf(sides, side)}
                  isCheapest={best.cheapest === index}
                  isFastest={best.fastest === index}
                  isGoing={isGoing}
                  onGoOn={() => void goOn(side)}
                  onDone={(measure) => setMeasures((old) => ({ ...old, [index]: measure }))}
                />
              ) : (
                <Notice tone="danger" title={texts.refused}>
                  {side.error}
                </Notice>
              )}
            </Card>
          </li>
        ))}
      </ol>
    </div>
  );
}

const State = ({ state }: { state: ReturnType<typeof stateOf> }) => (
  <Badge tone={state === 'idle' ? 'ok' : state === 'waiting' ? 'spot' : 'info'}>
    {state === 'idle' ? texts.done : state === 'waiting' ? texts.waiting : texts.working}
  </Badge>
);

function One({
  side: { agentId, sessionId },
  wanted,
  number,
  beside,
  isCheapest,
  isFastest,
  isGoing,
  onGoOn,
  onDone,
}: {
  side: Asked;
  wanted: string | undefined;
  number: number;
  beside: ReturnType<typeof besideOf>;
  isCheapest: boolean;
  isFastest: boolean;
  isGoing: boolean;
  onGoOn: () => void;
  onDone: (measure: Measure) => void;
}) {
  const conversation = useConversation({ agentId, sessionId, lastSeq: 1 });
  const { steps, error } = conversation;
  const words = useWords(conversation);
  const state = steps && steps.length > 0 ? stateOf(steps) : 'open';
  const { costMicros, ms } = spentOf(steps ?? []);
  // Shown is what answered: a plan or a provider may not have the one that was asked for.
  const answered = steps?.findLast(({ model }) => model !== undefined)?.model;
  const isDone = state === 'idle';
  useEffect(() => {
    if (isDone) onDone({ costMicros, ms });
    // Told once it is done; what it is told to may be another function each time.
  }, [isDone, costMicros, ms]);
  if (error) return <Failure error={error} retry={conversation.refetch} />;
  return (
    <div className="flex h-full flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2" role="status">
        <State state={state} />
        {isDone && (
          <span className="num text-[0.87rem] text-ink-soft">
            {duration(ms)}, {money(costMicros / 1_000_000)}
            {answered !== undefined && answered !== wanted && `, ${texts.answered(modelName(answered))}`}
          </span>
        )}
        {isCheapest && <Badge tone="accent">{texts.cheapest}</Badge>}
        {isFastest && <Badge tone="accent">{texts.fastest}</Badge>}
      </div>
      <div className="min-w-0 flex-1 break-words" dir="auto">
        {words === '' ? <Lines rows={3} /> : <Markdown text={words} />}
      </div>
      <Ways number={number} beside={beside} isGoing={isGoing} onGoOn={onGoOn} />
    </div>
  );
}

/** Where to go from an answer. */
function Ways({
  number,
  beside,
  isGoing,
  onGoOn,
}: {
  number: number;
  beside: ReturnType<typeof besideOf>;
  isGoing: boolean;
  onGoOn: () => void;
}) {
  return (
    <div className="flex flex-wrap gap-2">
      <Button small aria-label={texts.goOnNamed(number)} busy={isGoing} onClick={onGoOn}>
        {texts.goOn}
      </Button>
      {beside && (
        <LinkButton small to={beside.to}>
          {texts.beside(beside.number)}
        </LinkButton>
      )}
    </div>
  );
}
