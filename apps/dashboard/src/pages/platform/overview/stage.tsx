import { web } from '@troupe/contract';
import type { StageActor, TypesOf } from '@troupe/contract';
import { Link, useNavigate } from '@tanstack/react-router';
import { memo, useState } from 'react';
import type { KeyboardEvent } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { coming, hourOf, money } from '../../../format.ts';
import { keep, kept } from '../../../keeping.ts';
import { useConnection } from '../../../live/context.tsx';
import { overview } from '../../../texts/overview.ts';
import { stage as texts } from '../../../texts/stage.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { cx } from '../../../ui/cx.ts';
import { Refused } from '../../../ui/form.tsx';
import { Mask } from '../../../ui/icons.tsx';
import { isForPage } from '../../../ui/keys.ts';
import { Loaded } from '../../../ui/states.tsx';
import { Segments } from '../../../ui/tabs.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { GROUPED, isBusy, stagedOf, STATES } from './stage-groups.ts';
import type { Group, GroupedBy } from './stage-groups.ts';
import { stageKey } from './stage-keys.ts';
import { useStageLive } from './use-stage-live.ts';

type Reply = TypesOf<typeof web.stage.get>['reply'];

const DOT = {
  working: 'bg-info inset-ring-info',
  waits: 'bg-spot inset-ring-spot',
  ready: 'bg-ok inset-ring-ok',
  off: 'bg-line-strong inset-ring-line-strong',
  trouble: 'bg-danger inset-ring-danger',
} satisfies Record<StageActor['state'], string>;
/** Of more the groups are folded: the rest of the page must be in reach. */
const FEW = 60;
/** What somebody chose to see the others by. */
const CHOSEN = 'stage-by';

/** Every agent and team as they are now, with two agents and with hundreds. */
export function Stage() {
  const read = useCall(web.stage.get, {});
  useStageLive();
  return (
    <Card
      title={texts.title}
      hint={read.data && read.data.agents.length > 0 && summary(read.data)}
      actions={
        <LinkButton small kind="quiet" to="/dashboard/agents">
          {overview.allAgents}
        </LinkButton>
      }
    >
      <Loaded from={read}>
        {({ agents, more }) =>
          agents.length === 0 ? (
            <p className="text-ink-soft">{overview.noAgents}</p>
          ) : (
            <>
              <Shown agents={agents} />
              {more && <p className="mt-3 text-ink-faint">{texts.more}</p>}
            </>
          )
        }
      </Loaded>
    </Card>
  );
}

function summary({ agents, todayUsd }: Reply): string {
  const counted = STATES.flatMap((state) => {
    const { length } = agents.filter((actor) => actor.state === state);
    return length === 0 ? [] : [texts[state](length)];
  });
  return [...counted, texts.today(money(todayUsd))].join(' · ');
}

/** Arrows go from one to the next, as they stand on the screen; `t` takes over. */
function onKey(event: KeyboardEvent<HTMLElement>): void {
  if (isForPage(event.nativeEvent) && stageKey(event.currentTarget, event.key)) event.preventDefault();
}

const isGroupedBy = (value: unknown): value is GroupedBy => (GROUPED as readonly unknown[]).includes(value);

function Shown({ agents }: { agents: StageActor[] }) {
  const [by, setBy] = useState(() => {
    const chosen = kept(CHOSEN);
    return isGroupedBy(chosen) ? chosen : 'team';
  });
  const { front, hidden, groups } = stagedOf(agents, by);
  const choose = (next: string) => {
    if (!isGroupedBy(next)) return;
    keep(CHOSEN, next);
    setBy(next);
  };
  return (
    <div
      className="group/stage flex flex-col gap-4"
      data-away={useConnection().state === 'away' ? '' : undefined}
      onKeyDown={onKey}
    >
      {front.length > 0 && (
        <ul className="grid grid-cols-1 gap-2 sm:grid-cols-2">
          {front.map((actor) => (
            <li key={actor.id}>
              <Actor actor={actor} />
            </li>
          ))}
        </ul>
      )}
      {hidden > 0 && <p className="text-ink-soft">{texts.hidden(hidden)}</p>}
      {groups.length > 0 && (
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <span className="text-[0.9rem] text-ink-soft">{texts.by}</span>
          <Segments
            label={texts.by}
            value={by}
            onChange={choose}
            choices={GROUPED.map((value) => ({ value, label: texts.grouped[value] }))}
          />
        </div>
      )}
      {groups.map((group) => (
        <Others
          key={`${by}-${group.key}`}
          group={group}
          by={by}
          isAlone={groups.length === 1}
          isOpen={agents.length <= FEW}
        />
      ))}
    </div>
  );
}

function nameOf({ name }: Group, by: GroupedBy, isAlone: boolean): string {
  if (by === 'state') return texts.states[name as StageActor['state']];
  return name ?? (isAlone ? texts.everybody : texts.without[by]);
}

/** Those without room in front, small. */
function Others({ group, by, isAlone, isOpen }: { group: Group; by: GroupedBy; isAlone: boolean; isOpen: boolean }) {
  return (
    <details open={isOpen}>
      <summary className="eyebrow mb-1.5 cursor-pointer">
        <bdi>{nameOf(group, by, isAlone)}</bdi> {group.actors.length}
      </summary>
      <ul className="flex flex-wrap gap-1.5">
        {group.actors.map(({ id, name, state }) => (
          <Small key={id} id={id} name={name} state={state} />
        ))}
      </ul>
    </details>
  );
}

/** Hollow while nothing is heard of them: the strip above says since when, and this is how they were. */
const HOLLOW = 'group-data-[away]/stage:bg-surface! group-data-[away]/stage:inset-ring-[1.5px]';

function Dot({ state }: { state: StageActor['state'] }) {
  return <span aria-hidden="true" data-dot="" className={cx('size-2 shrink-0 rounded-full', DOT[state], HOLLOW)} />;
}

/** One in front: what it does, for whom, since when, and what it spent today. */
function Actor({ actor }: { actor: StageActor }) {
  const { id, name, state, about, handedBy, since, said, next, spentUsd, sessionId } = actor;
  const busy = isBusy(actor);
  // A time of day stays true while nothing happens.
  const when = busy && since && (state === 'waits' ? texts.since : texts.lastStep)(hourOf(since));
  const how = [handedBy && texts.handed(handedBy), when].filter(Boolean);
  return (
    <div className="flex h-full items-start gap-3 rounded-xl border border-line p-3 hover:border-line-strong">
      <Mask seed={id} mood={state} />
      <span className="min-w-0 flex-1">
        <Link
          to="/dashboard/agents/$id"
          params={{ id } as never}
          // At work: to where it works.
          search={(busy && sessionId !== null ? { tab: 'chat', c: sessionId } : {}) as never}
          data-actor=""
          className="block font-medium hover:underline"
        >
          <span className="block truncate" dir="auto">
            {name}
          </span>
        </Link>
        <span className="flex items-center gap-1.5 text-[0.85rem] text-ink-soft">
          <Dot state={state} />
          <bdi className="min-w-0 truncate">{[texts.states[state], ...how].join(', ')}</bdi>
        </span>
        {about && (
          <span className="block truncate text-[0.85rem] text-ink-soft" dir="auto" title={about}>
            {about}
          </span>
        )}
        {!busy && said && (
          <span className="line-clamp-2 text-[0.85rem] break-words text-ink-soft" dir="auto">
            {said.text}
          </span>
        )}
        {next && (
          <span className="block truncate text-[0.85rem] text-ink-faint" dir="auto">
            {texts.next(next.name, coming(next.at))}
          </span>
        )}
        {spentUsd > 0 && (
          <span className="num block text-[0.85rem] text-ink-faint">{texts.today(money(spentUsd))}</span>
        )}
      </span>
      {busy && <Lead actor={actor} />}
    </div>
  );
}

/** To the conversation while it happens, to what waits, or to the conversation with the run stopped. */
function Lead({ actor: { id, name, state, sessionId } }: { actor: StageActor }) {
  if (state === 'waits')
    return (
      <LinkButton small aria-label={texts.reviewNamed(name)} to="/dashboard/inbox">
        {texts.review}
      </LinkButton>
    );
  return (
    <span className="flex shrink-0 flex-col gap-1.5">
      <LinkButton
        small
        aria-label={texts.watchNamed(name)}
        to="/dashboard/agents/$id"
        params={{ id } as never}
        search={{ tab: 'chat', ...(sessionId !== null && { c: sessionId }) } as never}
      >
        {texts.watch}
      </LinkButton>
      {sessionId !== null && <TakeOver id={id} name={name} sessionId={sessionId} />}
    </span>
  );
}

/** Stops what it does, and leads to where a person goes on. What it has said and done until then stays. */
function TakeOver({ id, name, sessionId }: { id: string; name: string; sessionId: string }) {
  const navigate = useNavigate();
  const say = useSay();
  const stop = useSend(web.conversations.cancel, {
    refresh: [web.stage.get],
    done: () => {
      say(texts.takenOver(name));
      const search = { tab: 'chat', c: sessionId };
      void navigate({ to: '/dashboard/agents/$id', params: { id } as never, search: search as never });
    },
  });
  return (
    <>
      <Button
        small
        aria-label={texts.takeOverNamed(name)}
        data-take-over=""
        busy={stop.isPending}
        onClick={() => stop.mutate({ params: { id, sessionId } })}
      >
        {texts.takeOver}
      </Button>
      <Refused error={stop.error} />
    </>
  );
}

/** Drawn again only when its own state changes: there may be hundreds. */
const Small = memo(function Small({ id, name, state }: Pick<StageActor, 'id' | 'name' | 'state'>) {
  return (
    <li>
      <Link
        to="/dashboard/agents/$id"
        params={{ id } as never}
        preload={false}
        aria-label={texts.actor(name, texts.states[state])}
        title={texts.actor(name, texts.states[state])}
        data-actor=""
        className="relative block rounded-lg p-0.5 hover:bg-sunken"
      >
        <Mask seed={id} size={28} mood={state} />
        <span
          aria-hidden="true"
          data-dot=""
          className={cx('absolute end-0 bottom-0 size-2.5 rounded-full border-2 border-surface', DOT[state], HOLLOW)}
        />
      </Link>
    </li>
  );
});
