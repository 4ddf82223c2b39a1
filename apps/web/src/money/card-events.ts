import type { IncomingHttpHeaders } from 'node:http';
import type { CardEvent, CardProcessor } from './card-processor.ts';

/**
 * What the card processor reports. It may be given either of our addresses, or both: whatever comes in at one of them is
 * told to everybody whom it may concern. Each takes an event once.
 */
export interface CardEvents {
  /** Registers somebody whom events may concern. */
  tell: (take: (event: CardEvent) => Promise<void>) => void;
  receive: (request: { rawBody: string; headers: IncomingHttpHeaders }) => Promise<void>;
}

export function createCardEvents(processor: Pick<CardProcessor, 'event'>): CardEvents {
  const concerned: ((event: CardEvent) => Promise<void>)[] = [];
  return {
    tell: (take) => void concerned.push(take),
    async receive({ rawBody, headers }) {
      // The contract's name of the header, and the processor's own.
      const event = await processor.event(rawBody, headers['billing-signature'] ?? headers['stripe-signature']);
      for (const take of concerned) await take(event);
    },
  };
}
