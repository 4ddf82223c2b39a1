import { AppError, countedAddress, createFairQueue, iso, type ServerEvent } from '@troupe/kernel';
import { createDoor, type Door, type Request, type Visit, type VisitingDeps } from './door.ts';
import { createFollowing } from './following.ts';
import * as store from './store.ts';
import { createTalking, type Said } from './talking.ts';
import { mintToken, readToken } from './tokens.ts';
import * as visitors from './visitors-store.ts';

export type VisitingService = ReturnType<typeof createVisiting>;

const HOUR_MS = 3_600_000;
/** Of one address: an office, not a flood. */
const TOKENS_AN_HOUR = 300;
/** Widgets take turns, and so do the addresses that write to one. */
const WRITING = { width: 64, perKey: 8, waiting: 1000, waitingPerKey: 20, waitMs: 10_000 };
const LOOKING = { width: 32, perKey: 4, waiting: 1000, waitingPerKey: 20, waitMs: 10_000 };

/** Whoever shows a token that counts stays who they are. */
async function welcome(
  { db, clock, sessionSecret }: VisitingDeps,
  door: Door,
  key: string,
  token: string | undefined,
  request: Request,
) {
  const { widget } = await door.found(key, request);
  const now = clock();
  const known = readToken(sessionSecret, key, token ?? '', now);
  if (known === undefined) await door.atMost(`tokens:${countedAddress(request.address)}`, TOKENS_AN_HOUR, HOUR_MS);
  const minted = mintToken(sessionSecret, key, now, known);
  const row = known === undefined ? undefined : await visitors.findVisitor(db.user(widget.user_id), widget.id, known);
  const { title, greeting, colour, scheme } = widget;
  return {
    token: minted.token,
    expiresAt: iso(minted.expiresAt),
    theme: { title, greeting, colour, scheme },
    handsOver: widget.hands_over,
    state: row?.state ?? ('agent' as const),
    hasTalked: row?.session_id != null,
  };
}

/** What visitors of widgets do. Nobody knows them, so all of it is bounded by address, by visitor and by widget. */
export function createVisiting(deps: VisitingDeps) {
  const { db } = deps;
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
      looking.run(countedAddress(request.address), () => welcome(deps, door, key, token, request)),

    say: (key: string, said: Said, request: Request) => write(key, request, (visit) => talking.say(visit, said)),

    handOver: (key: string, request: Request) =>
      write(key, request, (visit) => talking.handOver(visit, request.address)),

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
        ownerId: widget.user_id,
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
