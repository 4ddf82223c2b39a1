import { eventsOf } from '@troupe/contract';

/** What the platform tells a visitor. */

interface Told {
  event: string;
  id: number;
  data: {
    role?: 'visitor' | 'agent' | 'person' | 'notice';
    text?: string;
    fresh?: boolean;
    state?: 'agent' | 'waiting' | 'person';
  };
}

/** Read by hand and not by the browser, for a page that may have to show its token in a header. */
export async function* readEvents(response: Response): AsyncGenerator<Told> {
  for await (const { event, id, data } of eventsOf(response))
    yield { event, id: Number(id ?? 0) || 0, data: JSON.parse(data) as Told['data'] };
}
