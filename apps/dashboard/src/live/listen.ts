import { web } from '@troupe/contract';
import { eventsOf, open } from '../api.ts';
import { FOREVER_MS } from './loop.ts';

/** The server says something every 20 s. */
const SILENCE_MS = 50_000;

/** Reads the stream until it ends or breaks, is let go of, or has been silent for too long. */
export async function listen(
  { watch, since, stage }: { watch: string; since: number; stage: boolean },
  signal: AbortSignal,
  take: (event: string, data: string) => void,
): Promise<void> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  try {
    const stream = await open(web.live.follow, {
      query: { since: `${since}`, ...(watch && { watch }), ...(stage && { stage: 'true' as const }) },
      // By it a platform that stops knows who only listens.
      headers: { accept: 'text/event-stream' },
      signal: AbortSignal.any([signal, silence.signal]),
      timeout: FOREVER_MS,
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
