import type { LiveTopic, StageChange } from '@troupe/contract';
import { statusOf } from '../api.ts';
import { createConnection } from './connection.ts';
import type { Connection } from './connection.ts';
import { watchHidden } from './hidden.ts';
import { listen } from './listen.ts';
import { createLoop } from './loop.ts';
import { createPause, oncePerTurn } from './pause.ts';
import { createWatches } from './watches.ts';
import type { Heard, Told, WatchRef } from './watches.ts';

/** The tab's one stream: what changed, and what happens in the conversations that are on screen. */

interface Hooks {
  changed: (topics: LiveTopic[]) => void;
  /** The stream is open, and these may have changed before it was. */
  opened: (topics: LiveTopic[]) => void;
  /** The stream is there again after it was not: anything may have changed. */
  back: () => void;
  /** The session is over. */
  signedOut: () => void;
}

export interface Live {
  connection: () => Connection;
  subscribe: (told: () => void) => () => void;
  watch: (ref: WatchRef, heard: Heard) => () => void;
  /** Tells what changes on the stage. */
  watchStage: (heard: (change: StageChange) => void) => () => void;
  hasStage: () => boolean;
  /** Tries at once instead of after a while. */
  retry: () => void;
  start: () => () => void;
}

/** How long ago this tab was told of everything for the last time; what its pages show is read after that. */
function createSince() {
  let told = performance.now();
  let isReady = false;
  return {
    ms: (): number => Math.ceil(performance.now() - told),
    ready(): void {
      isReady = true;
    },
    ended(): void {
      if (isReady) told = performance.now();
      isReady = false;
    },
  };
}

/** Who shows the stage; `turned` when the first comes and the last goes. */
function createStageWatch(turned: () => void) {
  const shown = new Set<(change: StageChange) => void>();
  return {
    has: () => shown.size > 0,
    take: (change: StageChange) => shown.forEach((heard) => heard(change)),
    watch(heard: (change: StageChange) => void) {
      shown.add(heard);
      if (shown.size === 1) turned();
      return () => {
        shown.delete(heard);
        if (shown.size === 0) turned();
      };
    },
  };
}

const topicsIn = (data: string): LiveTopic[] => (JSON.parse(data) as { topics: LiveTopic[] }).topics;

export function createLive({ changed, opened, back, signedOut }: Hooks): Live {
  const connection = createConnection(back);
  const watches = createWatches();
  const pause = createPause();
  const since = createSince();
  const take = (event: string, data: string): void => {
    if (event === 'changed') changed(topicsIn(data));
    else if (event === 'ready') {
      opened(topicsIn(data));
      since.ready();
      connection.become({ state: 'live' });
    } else if (event === 'stage') stage.take(JSON.parse(data) as StageChange);
    else if (event === 'step' || event === 'delta') watches.take(event, JSON.parse(data) as Told);
  };
  const loop = createLoop({
    connection,
    pause,
    async listen(signal) {
      await listen({ watch: watches.asked(), since: since.ms(), stage: stage.has() }, signal, take).finally(
        since.ended,
      );
    },
    failed: (error) => {
      if (statusOf(error) === 401) signedOut();
    },
  });
  // Several conversations come and go in one render: one new stream serves them.
  const reopenSoon = oncePerTurn(loop.reopen);
  const stage = createStageWatch(reopenSoon);

  return {
    connection: connection.now,
    subscribe: connection.subscribe,
    watch(ref, heard) {
      const remove = watches.add(ref, heard);
      reopenSoon();
      return () => {
        remove();
        reopenSoon();
      };
    },
    watchStage: stage.watch,
    hasStage: stage.has,
    retry: pause.end,
    start() {
      const stopped = new AbortController();
      const seen = () => {
        back();
        loop.rest(false);
      };
      const unsee = watchHidden(document, { hidden: () => loop.rest(true), seen });
      void loop.run(stopped.signal);
      return () => {
        stopped.abort();
        unsee();
        loop.rest(false);
      };
    },
  };
}
