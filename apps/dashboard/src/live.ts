import { web } from '@troupe/contract';
import type { LiveTopic, SessionStep } from '@troupe/contract';
import { eventsOf, open, statusOf } from './api.ts';

/** The tab's one stream: what changed, and what happens in the conversations that are on screen. */

export type Connection = { state: 'opening' | 'live' } | { state: 'away'; since: number };

interface Heard {
  step: (step: SessionStep) => void;
  /** `fresh`: the answer begins anew. */
  text: (text: string, fresh: boolean) => void;
}

interface WatchRef {
  agentId: string;
  sessionId: string;
  /** The last step that is known. */
  after: number;
}

interface Hooks {
  changed: (topics: LiveTopic[]) => void;
  /** The stream is there again after it was not: anything may have changed. */
  back: () => void;
  /** The session is over. */
  signedOut: () => void;
}

export interface Live {
  connection: () => Connection;
  subscribe: (told: () => void) => () => void;
  watch: (ref: WatchRef, heard: Heard) => () => void;
  /** Tries at once instead of after a while. */
  retry: () => void;
  start: () => () => void;
}

/** The server says something every 20 s. */
const SILENCE_MS = 50_000;
const FOREVER = 2_000_000_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;
/** A hidden tab lets go of its connection: a browser has six for all tabs of a site. */
const HIDDEN_MS = 60_000;

interface Watched extends WatchRef {
  heard: Heard;
}

export function createLive({ changed, back, signedOut }: Hooks): Live {
  const told = new Set<() => void>();
  const watches = new Set<Watched>();
  let connection: Connection = { state: 'opening' };
  let current = new AbortController();
  let wakeUp: () => void = () => {};
  let stopped = new AbortController();
  let isHidden = false;

  function become(next: Connection): void {
    // Since when it is away is said once.
    if (next.state === 'away' && connection.state === 'away') return;
    const wasAway = connection.state === 'away';
    connection = next;
    for (const tell of told) tell();
    if (next.state === 'live' && wasAway) back();
  }

  function take(event: string, data: string): void {
    if (event === 'ready') return become({ state: 'live' });
    if (event === 'changed') return changed((JSON.parse(data) as { topics: LiveTopic[] }).topics);
    if (event !== 'step' && event !== 'delta') return;
    const about = JSON.parse(data) as { sessionId: string; step: SessionStep; text: string; fresh?: boolean };
    for (const one of watches) {
      if (one.sessionId !== about.sessionId) continue;
      if (event === 'delta') one.heard.text(about.text, about.fresh === true);
      else if (about.step.seq > one.after) {
        one.after = about.step.seq;
        one.heard.step(about.step);
      }
    }
  }

  async function read(signal: AbortSignal): Promise<void> {
    const places = new Map([...watches].map((one) => [one.sessionId, one]));
    for (const one of watches) if (one.after < places.get(one.sessionId)!.after) places.set(one.sessionId, one);
    const watch = [...places.values()].map((one) => `${one.agentId}:${one.sessionId}:${one.after}`).join(',');
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), SILENCE_MS);
    try {
      const stream = await open(web.live.follow, {
        query: watch ? { watch } : {},
        // By it a platform that stops knows who only listens.
        headers: { accept: 'text/event-stream' },
        signal: AbortSignal.any([signal, silence.signal]),
        timeout: FOREVER,
      });
      for await (const { event, data } of eventsOf(stream)) {
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), SILENCE_MS);
        take(event, data);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  async function run(end: AbortSignal): Promise<void> {
    let wait = FIRST_WAIT_MS;
    while (!end.aborted) {
      if (isHidden) {
        await pause(FOREVER);
        continue;
      }
      current = new AbortController();
      const { signal } = current;
      const before = connection.state;
      try {
        await read(signal);
        wait = FIRST_WAIT_MS;
      } catch (error) {
        if (signal.aborted) continue;
        if (statusOf(error) === 401) signedOut();
        // A stream that broke is opened again before anybody is told.
        if (before !== 'live' || connection.state !== 'live') become({ state: 'away', since: Date.now() });
        else become({ state: 'opening' });
      }
      if (signal.aborted) continue;
      await pause(wait);
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    }
  }

  const reopen = (): void => {
    current.abort();
    wakeUp();
  };

  /** Several conversations come and go in one render: one new stream serves them. */
  let isAsked = false;
  function reopenSoon(): void {
    if (isAsked) return;
    isAsked = true;
    queueMicrotask(() => {
      isAsked = false;
      reopen();
    });
  }

  function onVisible(): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = () => {
      clearTimeout(timer);
      if (document.hidden) {
        timer = setTimeout(() => {
          isHidden = true;
          reopen();
        }, HIDDEN_MS);
      } else if (isHidden) {
        isHidden = false;
        back();
        reopen();
      }
    };
    document.addEventListener('visibilitychange', look);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }

  return {
    connection: () => connection,
    subscribe(tell) {
      told.add(tell);
      return () => told.delete(tell);
    },
    watch(ref, heard) {
      const one = { ...ref, heard };
      watches.add(one);
      reopenSoon();
      return () => {
        watches.delete(one);
        reopenSoon();
      };
    },
    retry: () => wakeUp(),
    start() {
      stopped = new AbortController();
      const unsee = onVisible();
      void run(stopped.signal);
      return () => {
        stopped.abort();
        unsee();
        reopen();
      };
    },
  };
}
