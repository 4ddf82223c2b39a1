import type { Accounts } from '@troupe/accounts';
import { gateway, WIDGET_GONE, type Client, type TypesOf, type web } from '@troupe/contract';
import type { Database } from '@troupe/db';
import {
  AppError,
  bearerToken,
  countedAddress,
  createFairQueue,
  iso,
  type BackendClient,
  type Clock,
  type Counters,
  type RequestInfo,
  type ServerEvent,
} from '@troupe/kernel';
import { asAppError } from '../../platform/reach.ts';
import { createFollowing, type FollowingDeps } from './following.ts';
import * as store from './store.ts';
import { mintToken, readToken } from './tokens.ts';
import { CLOSED, TO_PERSON } from './view.ts';
import * as visitors from './visitors-store.ts';

export interface VisitingDeps extends FollowingDeps {
  db: Database;
  backend: BackendClient;
  accounts: Pick<Accounts, 'users' | 'toUser'>;
  clock: Clock;
  counters: Counters;
  /** What tokens of visitors are signed with. */
  sessionSecret: string;
}

export type VisitingService = ReturnType<typeof createVisiting>;

type Request = Pick<RequestInfo, 'headers' | 'address' | 'origin'>;
type Said = TypesOf<typeof web.widgets.say>['body'];
interface Visit {
  widget: store.WidgetRow;
  visitorId: string;
  /** The site that it comes from. */
  site: string;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Of one address: an office, not a flood. */
const TOKENS_AN_HOUR = 300;
const MESSAGES_A_MINUTE = 30;
/** Of all visitors of a widget. */
const WIDGET_A_MINUTE = 300;
const NEW_A_DAY = 5000;
/** Answers of an agent to visitors that are under way. */
const MOST_OPEN = 20;
/** Tokens of an answer: what is set aside for a call is as much as it may cost at most. */
const ANSWER_TOKENS = 1500;
const ASK_MS = 30_000;
const WORDS_KEPT = 300;
/** Widgets take turns, and so do the addresses that write to one. */
const WRITING = { width: 64, perKey: 8, waiting: 1000, waitingPerKey: 20, waitMs: 10_000 };
const LOOKING = { width: 32, perKey: 4, waiting: 1000, waitingPerKey: 20, waitMs: 10_000 };

const WANTS_PERSON = 'A person was told that you are here. You can go on writing.';
const NOT_NOW = 'Nobody can answer at the moment. Please try again later.';
const gone = (): AppError => new AppError(404, WIDGET_GONE);
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
function createDoor({ db, clock, counters, sessionSecret }: VisitingDeps) {
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

/** Brings what visitors say to the agent, or to the person in its place. */
function createTalking({ db, backend, accounts, clock }: VisitingDeps, door: ReturnType<typeof createDoor>) {
  /** As the owner, whom the agent belongs to; counted as the visitor, so that nobody uses up what the owner may call. */
  async function clientFor({ widget, visitorId }: Omit<Visit, 'site'>): Promise<Client> {
    const row = await accounts.users.byId(db.system, widget.user_id);
    if (!row) throw gone();
    const owner = { ...accounts.toUser(row, null), isAdmin: false, toldAs: `visitor:${visitorId}` };
    return backend.as(owner, `visitor:${visitorId}`);
  }

  const reached = <T>(call: Promise<T>): Promise<T> =>
    call.catch((cause: unknown) => {
      const known = asAppError(cause);
      // What is wrong with the agent is for its owner.
      throw known.status === 404 ? known : new AppError(503, NOT_NOW, {}, { cause });
    });

  /** The conversation, made with the greeting; it is known to be the widget's before anything in it costs. */
  async function conversation(client: Client, visit: Visit, row: visitors.VisitorRow): Promise<string> {
    if (row.session_id !== null) return row.session_id;
    const { widget, visitorId } = visit;
    const body = {
      key: `${widget.id}:${visitorId}`,
      role: 'assistant' as const,
      content: widget.greeting,
      id: 'greeting',
    };
    const { sessionId } = await reached(
      client.call(gateway.conversations.note, { params: { agentId: widget.agent_id }, body, timeout: ASK_MS }),
    );
    await visitors.setSession(db.user(widget.user_id), visitorId, sessionId);
    return sessionId;
  }

  async function isUsedUp({ id, user_id: userId, daily_cap_micros: cap }: store.WidgetRow): Promise<boolean> {
    const spent = (await store.spentToday(db.user(userId), [id], clock())).get(id);
    return spent !== undefined && spent.used >= cap;
  }

  async function seen(visit: Visit, words: string): Promise<visitors.VisitorRow> {
    const { widget, visitorId, site } = visit;
    const tx = db.user(widget.user_id);
    if (!(await visitors.findVisitor(tx, widget.id, visitorId)))
      await door.atMost(`new:${widget.id}`, NEW_A_DAY, DAY_MS);
    const row = await visitors.seeVisitor(tx, {
      id: visitorId,
      widget_id: widget.id,
      user_id: widget.user_id,
      agent_id: widget.agent_id,
      words: words.slice(0, WORDS_KEPT).toWellFormed(),
      origin: site,
      seen_at: clock(),
    });
    if (!row) throw gone();
    return row;
  }

  /** To the agent, or beside it. */
  async function bring(client: Client, visit: Visit, row: visitors.VisitorRow, { message, id }: Said): Promise<void> {
    const session = await conversation(client, visit, row);
    const { agent_id: agentId, abilities } = visit.widget;
    const about = { params: { agentId }, timeout: ASK_MS };
    const said = { session, content: message, ...(id !== undefined && { id: `visitor:${id}` }) };
    if (row.state !== 'agent') {
      await reached(client.call(gateway.conversations.note, { ...about, body: { ...said, role: 'user' } }));
      return;
    }
    if ((await visitors.countOpen(db.user(visit.widget.user_id), agentId)) >= MOST_OPEN)
      throw new AppError(503, NOT_NOW, {}, { headers: { 'retry-after': '5' } });
    const guest = { abilities, maxTokens: ANSWER_TOKENS };
    await reached(client.call(gateway.conversations.say, { ...about, body: { ...said, guest } }));
  }

  return {
    clientFor,
    async say(visit: Visit, said: Said) {
      const { widget } = visit;
      const known = await visitors.findVisitor(db.user(widget.user_id), widget.id, visit.visitorId);
      if ((known?.state ?? 'agent') === 'agent' && (await isUsedUp(widget)))
        return { state: 'closed' as const, text: CLOSED };
      const row = await seen(visit, said.message);
      const client = await clientFor(visit);
      try {
        await bring(client, visit, row, said);
      } catch (error) {
        // Its owner has deleted the conversation: another one begins.
        if (asAppError(error).status !== 404 || row.session_id === null) throw error;
        await visitors.forgetSession(db.user(widget.user_id), row.id, row.session_id);
        await bring(client, visit, { ...row, session_id: null }, said);
      }
      return { state: row.state, text: null };
    },

    async handOver(visit: Visit) {
      const { widget, visitorId } = visit;
      if (!widget.hands_over) throw new AppError(409, 'There is no person to ask here');
      const tx = db.user(widget.user_id);
      const known = await visitors.findVisitor(tx, widget.id, visitorId);
      if (known && known.state !== 'agent') return { state: known.state };
      const row = await seen(visit, known?.words ?? '');
      const client = await clientFor(visit);
      const session = await conversation(client, visit, row);
      if (await visitors.setState(tx, row.id, 'waiting', clock())) {
        const body = { session, role: 'assistant' as const, content: WANTS_PERSON, by: TO_PERSON };
        await reached(
          client.call(gateway.conversations.note, { params: { agentId: widget.agent_id }, body, timeout: ASK_MS }),
        );
      }
      return { state: 'waiting' as const };
    },
  };
}

/** What visitors of widgets do. Nobody knows them, so all of it is bounded by address, by visitor and by widget. */
export function createVisiting(deps: VisitingDeps) {
  const { db, clock, sessionSecret } = deps;
  const door = createDoor(deps);
  const talking = createTalking(deps, door);
  const following = createFollowing(deps);
  const writing = createFairQueue(WRITING);
  const looking = createFairQueue(LOOKING);

  async function write<T>(key: string, request: Request, work: (visit: Visit) => Promise<T>): Promise<T> {
    const visitorId = door.visitor(key, request);
    const turn = async (): Promise<T> => {
      const visit = { visitorId, ...(await door.found(key, request)) };
      await door.count(visit, request.address);
      return work(visit);
    };
    // A token counts for its key alone, so keys are not made up here.
    return writing.run(key, turn, undefined, countedAddress(request.address));
  }

  return {
    visit: (key: string, token: string | undefined, request: Request) =>
      looking.run(countedAddress(request.address), async () => {
        const { widget } = await door.found(key, request);
        const now = clock();
        const known = readToken(sessionSecret, key, token ?? '', now);
        if (known === undefined)
          await door.atMost(`tokens:${countedAddress(request.address)}`, TOKENS_AN_HOUR, HOUR_MS);
        const minted = mintToken(sessionSecret, key, now, known);
        const row =
          known === undefined ? undefined : await visitors.findVisitor(db.user(widget.user_id), widget.id, known);
        const { title, greeting, colour, scheme } = widget;
        return {
          token: minted.token,
          expiresAt: iso(minted.expiresAt),
          theme: { title, greeting, colour, scheme },
          handsOver: widget.hands_over,
          state: row?.state ?? ('agent' as const),
          hasTalked: row?.session_id != null,
        };
      }),

    say: (key: string, said: Said, request: Request) => write(key, request, (visit) => talking.say(visit, said)),

    handOver: (key: string, request: Request) => write(key, request, (visit) => talking.handOver(visit)),

    async follow(key: string, request: Request, signal: AbortSignal): Promise<AsyncIterable<ServerEvent>> {
      const visitorId = door.visitor(key, request);
      const { address, headers } = request;
      const { widget, row } = await looking.run(countedAddress(address), async () => {
        const { widget } = await door.found(key, request);
        return { widget, row: await visitors.findVisitor(db.user(widget.user_id), widget.id, visitorId) };
      });
      if (!row?.session_id) throw new AppError(404, 'There is no conversation yet');
      const last = Number(headers['last-event-id'] ?? 0);
      const after = Number.isSafeInteger(last) && last > 0 ? last : 0;
      const { agent_id: agentId } = widget;
      const place = {
        key,
        visitorId,
        address: countedAddress(address),
        agentId,
        sessionId: row.session_id,
        state: row.state,
        after,
      };
      return following(await talking.clientFor({ widget, visitorId }), place, signal);
    },

    /** The title of its page; undefined: there is none. */
    async page(key: string): Promise<string | undefined> {
      const widget = await store.findOpen(db.system, key);
      return widget?.hosted ? widget.title : undefined;
    },
  };
}
