import { AppError, iso, OutboundError, type Clock, type Outbound, type OutboundResponse } from '@troupe/kernel';
import { createExtract, type Extract } from './html/links.ts';
import { readPage } from './html/read.ts';
import { createSummary, type Summary } from './html/summary.ts';
import { createNextTurn } from './html/turns.ts';

export interface PagesDeps {
  outbound: Outbound;
  clock: Clock;
  /** Milliseconds for a page: connecting, redirects, reading and scanning. */
  timeout: number;
}

type Fetched<T> = T & { url: string; fetchedAt: string };

export interface Pages {
  summarize: (url: string, signal?: AbortSignal) => Promise<Fetched<Summary>>;
  extract: (url: string, signal?: AbortSignal) => Promise<Fetched<Extract>>;
}

const MAX_BYTES = 5 * 1024 * 1024;
const MAX_REDIRECTS = 5;
const HTML = /^(text\/html|application\/xhtml\+xml)$/;

export function createPages({ outbound, clock, timeout }: PagesDeps): Pages {
  const nextTurn = createNextTurn();

  async function open(url: string, signal: AbortSignal | undefined): Promise<OutboundResponse & { xml: boolean }> {
    const response = await outbound.fetch(url, {
      headers: { accept: 'text/html,application/xhtml+xml' },
      timeout,
      maxBytes: MAX_BYTES,
      redirects: MAX_REDIRECTS,
      signal,
    });
    const type = (response.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
    const problem =
      response.status < 200 || response.status > 299
        ? `HTTP ${response.status} fetching ${url}`
        : type !== '' && !HTML.test(type) && `Not an HTML page: ${type.slice(0, 100)}`;
    if (!problem) return { ...response, xml: type === 'application/xhtml+xml' };
    response.cancel();
    throw new AppError(500, problem);
  }

  async function fetched<T>(url: string, signal: AbortSignal | undefined, read: (page: Page) => Promise<T>) {
    try {
      const page = await open(url, signal);
      const result = await read(page);
      return { url, ...result, fetchedAt: iso(clock()) };
    } catch (error) {
      if (error instanceof OutboundError) throw new AppError(500, error.message, {}, { cause: error });
      // Nobody is waiting for the answer any more, or nobody should.
      if (signal?.aborted) throw new AppError(503, 'Request cancelled', {}, { cause: error });
      throw error;
    }
  }

  return {
    summarize: (url, signal) =>
      fetched(url, signal, async (page) => {
        const summary = createSummary({ xml: page.xml });
        await readPage(page.body, page.headers['content-type'] ?? '', summary, nextTurn);
        return summary.result();
      }),
    extract: (url, signal) =>
      fetched(url, signal, async (page) => {
        const extract = createExtract(page.url, { xml: page.xml });
        await readPage(page.body, page.headers['content-type'] ?? '', extract, nextTurn);
        return extract.result();
      }),
  };
}

type Page = OutboundResponse & { xml: boolean };
