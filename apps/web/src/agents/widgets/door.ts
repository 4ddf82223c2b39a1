import type { Accounts } from '@troupe/accounts';
import { WIDGET_GONE } from '@troupe/contract';
import type { Database } from '@troupe/db';
import {
  AppError,
  bearerToken,
  countedAddress,
  type BackendClient,
  type Clock,
  type Counters,
  type RequestInfo,
} from '@troupe/kernel';
import type { FollowingDeps } from './following.ts';
import * as store from './store.ts';
import { readToken } from './tokens.ts';

export interface VisitingDeps extends FollowingDeps {
  db: Database;
  backend: BackendClient;
  accounts: Pick<Accounts, 'users' | 'toUser'>;
  clock: Clock;
  counters: Counters;
  /** What tokens of visitors are signed with. */
  sessionSecret: string;
}

export type Request = Pick<RequestInfo, 'headers' | 'address' | 'origin'>;

export interface Visit {
  widget: store.WidgetRow;
  visitorId: string;
  /** The site that it comes from. */
  site: string;
}

export type Door = ReturnType<typeof createDoor>;

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** Of one address: an office, not a flood. */
const MESSAGES_A_MINUTE = 30;
/** Of all visitors of a widget. */
const WIDGET_A_MINUTE = 300;

export const gone = (): AppError => new AppError(404, WIDGET_GONE);
const slowly = (ms: number): AppError =>
  new AppError(
    429,
    'Too many messages. Please wait a little.',
    {},
    { headers: { 'retry-after': String(Math.ceil(ms / 1000)) } },
  );

/** The page that calls. A browser names another site's; one of ours it need not name when it only reads. */
function siteOf({ headers, origin }: Request): string | undefined {
  const { origin: given } = headers;
  return typeof given === 'string'
    ? given.toLowerCase()
    : headers['sec-fetch-site'] === 'same-origin'
      ? origin
      : undefined;
}

function checkSite(widget: store.WidgetRow, request: Request): string {
  const site = siteOf(request);
  const isOurs = site !== undefined && site === request.origin.toLowerCase();
  if (site !== undefined && (isOurs ? widget.hosted : widget.origins.includes(site))) return site;
  throw new AppError(403, 'This site may not show the chat');
}

/** Who comes in, from where, how often. */
export function createDoor({ db, clock, counters, sessionSecret }: VisitingDeps) {
  async function atMost(name: string, most: number, ms: number): Promise<void> {
    const { count, resetsInMs } = await counters.hit(`widget:${name}`, ms);
    if (count > most) throw slowly(resetsInMs);
  }

  async function found(key: string, request: Request) {
    const widget = await store.findOpen(db.system, key);
    if (!widget) throw gone();
    return { widget, site: checkSite(widget, request) };
  }

  return {
    atMost,
    found,
    /** Only who was given a token gets as far as the database. */
    visitor(key: string, request: Request): string {
      const id = readToken(sessionSecret, key, bearerToken(request) ?? '', clock());
      if (id === undefined) throw new AppError(401, 'The visitor’s token does not count: ask for a new one');
      return id;
    },
    /** What has been said counts for the visitor, the address and the widget. */
    async count({ widget, visitorId }: Visit, address: string): Promise<void> {
      await atMost(`visitor:${visitorId}`, widget.messages_per_hour, HOUR_MS);
      await atMost(`address:${widget.id}:${countedAddress(address)}`, MESSAGES_A_MINUTE, MINUTE_MS);
      await atMost(`all:${widget.id}`, WIDGET_A_MINUTE, MINUTE_MS);
    },
  };
}
