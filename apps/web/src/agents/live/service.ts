import {
  eventsOf,
  gateway,
  LIVE_TOPICS,
  liveChanged,
  MOST_FOLLOWED,
  MOST_STREAMS,
  noticeRaised,
  TOO_MANY_FOLLOWED,
  TOO_MANY_STREAMS,
  type LiveTopic,
} from '@troupe/contract';
import { createStreams, type Stream } from '@troupe/accounts';
import type { Database, Listener } from '@troupe/db';
import type { Roster } from '@troupe/roster';
import { AppError, eachOf, pulled, type BackendClient, type Log, type ServerEvent, type User } from '@troupe/kernel';
import { asAppError } from '../../platform/reach.ts';
import type { StageService } from '../stage/service.ts';
import { openOutbox, type Outbox } from './outbox.ts';
import { createPaced } from './paced.ts';
import { createPatience, type Patience } from './patience.ts';
import { createReaders } from './readers.ts';
import { createRecent, type Recent } from './recent.ts';
import { createStages, type Stages } from './stages.ts';

export interface LiveDeps {
  db: Database;
  roster: Roster;
  backend: BackendClient;
  listener: Listener;
  stage: Pick<StageService, 'read'>;
  log: Log;
}

export type LiveService = ReturnType<typeof createLive>;

const EVERY_ADMINISTRATOR = '*';

const PING_MS = 20_000;
const RETRY_MS = 1000;
/** An agent that is stopped may stay so for days. */
const LONGEST_RETRY_MS = 10_000;
/** A follower is opened anew after that; nothing is missed. */
const FOLLOW_MS = 3_600_000;

interface Watch {
  agentId: string;
  sessionId: string;
  after: number;
}

interface LiveStream extends Stream {
  user: User;
  change: (topic: LiveTopic) => void;
  follows: number;
}

/** The open streams of this process, and what is told to them. */
function createListeners({ listener }: LiveDeps, recent: Recent, stages: Stages) {
  const streams = createStreams<LiveStream>(listener, { most: MOST_STREAMS, refusal: TOO_MANY_STREAMS });

  function tell(userId: string, topic: LiveTopic): void {
    recent.add(userId, topic);
    stages.changed(userId, topic);
    const heard =
      userId === EVERY_ADMINISTRATOR ? streams.all().filter(({ user }) => user.isAdmin) : streams.of(userId);
    for (const { change } of heard) change(topic);
  }

  // Listened for from the start, and once: who opens a stream misses nothing that comes after `ready`.
  listener.on(liveChanged, (payload) => {
    const [userId = '', topic = ''] = payload.split(' ');
    if ((LIVE_TOPICS as readonly string[]).includes(topic)) tell(userId, topic as LiveTopic);
  });
  listener.on(noticeRaised, (userId) => tell(userId, 'notices'));

  function join(stream: LiveStream): () => void {
    const follows = [...streams.of(stream.user.id)].reduce((sum, one) => sum + one.follows, stream.follows);
    if (follows > MOST_FOLLOWED) throw new AppError(429, TOO_MANY_FOLLOWED);
    return streams.join(stream);
  }

  return join;
}

interface Following {
  watches: readonly Watch[];
  outbox: Outbox;
  /** Of what cannot be followed now. */
  patience: Patience;
}

/** What an agent says, passed on to a stream. */
function createFollowing({ roster, backend, log }: LiveDeps) {
  /** Passes a conversation on until its reader leaves or it is gone. A backend that is away for a while is waited for. */
  async function follow(user: User, watch: Watch, { watches, outbox, patience }: Following, signal: AbortSignal) {
    const about = { agentId: watch.agentId, sessionId: watch.sessionId };
    // Readers must not use up what their user may call otherwise, so they count by themselves.
    const client = backend.as({ ...user, toldAs: `live:${user.id}` }, `live:${user.id}`);
    for (let wait = RETRY_MS; !signal.aborted; wait = Math.min(wait * 2, LONGEST_RETRY_MS)) {
      try {
        await roster.of(user.id).get(watch.agentId);
        const response = await client.open(gateway.conversations.follow, {
          params: { agentId: watch.agentId, id: watch.sessionId },
          headers: { accept: 'text/event-stream', 'last-event-id': String(watch.after) },
          timeout: FOLLOW_MS,
          signal,
        });
        wait = RETRY_MS;
        await eachOf(eventsOf(response), ({ event, id, data }) => {
          const value = JSON.parse(data) as Record<string, unknown>;
          if (event === 'error') throw new AppError(404, 'Session not found', value);
          const step = (): ServerEvent => {
            // With the event, not before: another one must not say that this one was heard.
            watch.after = Number(id);
            return { id: positions(watches), event: 'step', data: { ...about, step: value } };
          };
          const delta = (): ServerEvent => ({ event: 'delta', data: { ...about, ...value } });
          return outbox.put(id === undefined ? delta : step, data.length);
        });
      } catch (error) {
        if (signal.aborted) return;
        const known = asAppError(error);
        if (known.status === 404)
          return outbox.put(() => ({ event: 'gone', data: { ...about, error: known.message } }), 0);
        log.debug({ err: error, agentId: watch.agentId }, 'a conversation could not be followed');
      }
      await patience.wait(wait, signal);
    }
  }

  return follow;
}

/** One stream for each tab of a dashboard, or for a program: it names what changed, and follows conversations. */
/** What is undone when a reader leaves, also what was begun after that. */
function createEnding(undone: (() => void)[]) {
  let isOver = false;
  return {
    atEnd: (undo: () => void): void => void (isOver ? undo() : undone.push(undo)),
    end(): void {
      isOver = true;
      for (const undo of undone) undo();
    },
  };
}

export function createLive(deps: LiveDeps) {
  const recent = createRecent();
  const stages = createStages({ read: (userId) => deps.stage.read(userId), log: deps.log });
  const join = createListeners(deps, recent, stages);
  const readers = createReaders(deps);
  /** An administrator's page may show everybody's. */
  const reading = async ({ id, isAdmin }: User): Promise<() => void> => {
    const left = await Promise.all((isAdmin ? [id, EVERY_ADMINISTRATOR] : [id]).map((one) => readers.join(one)));
    return () => left.forEach((leave) => leave());
  };
  const follow = createFollowing(deps);
  const missed = ({ id, isAdmin }: User, ms: number): LiveTopic[] => [
    ...new Set([...recent.missed(id, ms), ...(isAdmin ? recent.missed(EVERY_ADMINISTRATOR, ms) : [])]),
  ];

  return {
    /** Throws before the first event when there are too many. */
    open(
      user: User,
      { watch, since, stage }: { watch?: string | undefined; since: number; stage?: 'true' | undefined },
      last: string | undefined,
      signalOfReader: AbortSignal,
    ): AsyncIterable<ServerEvent> {
      const opened = performance.now();
      const ended = new AbortController();
      const signal = AbortSignal.any([signalOfReader, ended.signal]);
      const outbox = openOutbox(signal);
      const watches = readWatches(watch, last);
      const { change, stop } = createPaced((topic) => outbox.change(topic));
      const patience = createPatience(RETRY_MS);
      const heard = (topic: LiveTopic): void => {
        // An agent that was stopped may run now, and is about to answer.
        if (topic === 'agents') patience.nudge();
        change(topic);
      };
      const leave = join({ user, change: heard, follows: watches.length, end: () => ended.abort() });
      let isBegun = false;
      const { atEnd, end } = createEnding([() => ended.abort(), stop, leave]);
      const begin = async (): Promise<ServerEvent> => {
        const ping = setInterval(() => outbox.ping(), PING_MS);
        atEnd(() => clearInterval(ping));
        for (const one of watches) void follow(user, one, { watches, outbox, patience }, signal);
        atEnd(await reading(user));
        // Before `ready`: what changes on the stage from there on is told.
        if (stage) atEnd(await stages.join(user.id, outbox.stage));
        return { event: 'ready', data: { topics: missed(user, since + performance.now() - opened) } };
      };
      return pulled(() => {
        if (isBegun) return outbox.take();
        isBegun = true;
        return begin();
      }, end);
    },
  };
}

/** Where a reader stands in each conversation: what it comes back with. */
const positions = (watches: readonly Watch[]): string =>
  watches.map(({ sessionId, after }) => `${sessionId}:${after}`).join(',');

function readWatches(given: string | undefined, last = ''): Watch[] {
  const reached = new Map(last.split(',').map((one) => one.split(':', 2) as [string, string | undefined]));
  const watches = new Map<string, Watch>();
  for (const one of given?.split(',') ?? []) {
    const [agentId = '', sessionId = '', after = '0'] = one.split(':');
    const seen = Number(reached.get(sessionId) ?? after);
    // Named twice it is followed once.
    watches.set(`${agentId}:${sessionId}`, {
      agentId,
      sessionId,
      after: Number.isSafeInteger(seen) && seen >= 0 ? seen : Number(after),
    });
  }
  return [...watches.values()];
}
