import { summarizer } from '@troupe/contract';
import {
  createOutbound,
  createServer,
  serve,
  serveOpenApi,
  systemClock,
  type Clock,
  type OutboundOptions,
  type Server,
  type ServerOptions,
  type Settings,
} from '@troupe/kernel';
import { createPages } from './pages.ts';

const NAME = 'web-summarizer';
const VERSION = '1.0.0';
const USER_AGENT = 'Troupe-WebSummarizer/1.0';
const FETCH_TIMEOUT = 10_000;

export interface SummarizerOptions extends Omit<ServerOptions, 'service'> {
  clock?: Clock;
  /** Milliseconds for a page; 10,000 unless said. */
  fetchTimeout?: number;
  /** For tests: DNS, and finer time-outs. */
  outbound?: Pick<OutboundOptions, 'resolve' | 'connectTimeout' | 'idleTimeout'>;
}

/** The web summarizer: no database, no accounts. */
export function createSummarizer(options: SummarizerOptions): Server {
  const { clock = systemClock, fetchTimeout = FETCH_TIMEOUT, outbound: outboundOptions, ...rest } = options;
  const server = createServer({ ...rest, service: 'summarizer' });
  const outbound = createOutbound({ ...outboundOptions, userAgent: USER_AGENT, allowLoopback: server.loopback });
  const pages = createPages({ outbound, clock, timeout: fetchTimeout });
  server.app.addHook('onClose', () => outbound.close());

  serve(server, summarizer.get, () => about(rest.settings));
  serve(server, summarizer.getHealth, () => ({ status: 'ok' as const, service: NAME, version: VERSION }));
  serve(server, summarizer.summarize, ({ body, request }) => pages.summarize(body.url, request.signal()));
  serve(server, summarizer.extract, ({ body, request }) => pages.extract(body.url, request.signal()));
  serveOpenApi(server, 'Troupe web summarizer', VERSION);
  return server;
}

function about({ CHAIN_TESTNET, PAYEE_ADDRESS }: Settings) {
  return {
    service: NAME,
    description: 'Fetches a web page and returns a summary of it, or its links, images and metadata.',
    endpoints: {
      'GET /health': summarizer.getHealth.summary,
      'POST /api/summarize': summarizer.summarize.summary,
      'POST /api/extract': summarizer.extract.summary,
    },
    payment: {
      network: CHAIN_TESTNET ? 'Tempo Testnet' : 'Tempo',
      currency: 'USD',
      payTo: PAYEE_ADDRESS ?? null,
      note: 'No payment is required.',
    },
  };
}
