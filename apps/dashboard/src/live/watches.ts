import type { SessionStep } from '@troupe/contract';

export interface Heard {
  step: (step: SessionStep) => void;
  /** `fresh`: the answer begins anew. */
  text: (text: string, fresh: boolean) => void;
}

export interface WatchRef {
  agentId: string;
  sessionId: string;
  /** The last step that is known. */
  after: number;
}

interface Watched extends WatchRef {
  heard: Heard;
}

export interface Told {
  sessionId: string;
  step: SessionStep;
  text: string;
  fresh?: boolean;
}

export interface Watches {
  add: (ref: WatchRef, heard: Heard) => () => void;
  /** What the stream is asked for: each conversation once, from the earliest step that somebody does not know. */
  asked: () => string;
  take: (event: 'step' | 'delta', told: Told) => void;
}

/** The conversations that are on screen, each as often as it is shown, and what each place knows of it. */
export function createWatches(): Watches {
  const watches = new Set<Watched>();
  return {
    add(ref, heard) {
      const one = { ...ref, heard };
      watches.add(one);
      return () => watches.delete(one);
    },
    asked() {
      const places = new Map<string, Watched>();
      for (const one of watches) {
        const known = places.get(one.sessionId);
        if (!known || one.after < known.after) places.set(one.sessionId, one);
      }
      return [...places.values()].map((one) => `${one.agentId}:${one.sessionId}:${one.after}`).join(',');
    },
    take(event, { sessionId, step, text, fresh }) {
      for (const one of watches) {
        if (one.sessionId !== sessionId) continue;
        if (event === 'delta') one.heard.text(text, fresh === true);
        else if (step.seq > one.after) {
          one.after = step.seq;
          one.heard.step(step);
        }
      }
    },
  };
}
