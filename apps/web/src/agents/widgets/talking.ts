import { gateway, type Client, type TypesOf, type web } from '@troupe/contract';
import { AppError, countedAddress } from '@troupe/kernel';
import { asAppError } from '../../platform/reach.ts';
import { gone, type Door, type Visit, type VisitingDeps } from './door.ts';
import * as store from './store.ts';
import { CLOSED, TO_PERSON } from './view.ts';
import * as visitors from './visitors-store.ts';

export type Said = TypesOf<typeof web.widgets.say>['body'];

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Of one address: each stands in the owner's inbox until somebody answers. */
const HAND_OVERS_AN_HOUR = 20;
const NEW_A_DAY = 5000;
/** Answers of an agent to visitors that are under way. */
const MOST_OPEN = 20;
/** Tokens of an answer: what is set aside for a call is as much as it may cost at most. */
const ANSWER_TOKENS = 1500;
const ASK_MS = 30_000;
const WORDS_KEPT = 300;

const WANTS_PERSON = 'A person was told that you are here. You can go on writing.';
const NOT_NOW = 'Nobody can answer at the moment. Please try again later.';

/** The agent behind a widget. */
function createLines({ db, backend, accounts }: VisitingDeps) {
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

  return { clientFor, reached, conversation, bring };
}

/** Brings what visitors say to the agent, or to the person in its place. */
export function createTalking(deps: VisitingDeps, door: Door) {
  const { db, clock } = deps;
  const lines = createLines(deps);
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

  return {
    clientFor: lines.clientFor,
    async say(visit: Visit, said: Said) {
      const { widget } = visit;
      const known = await visitors.findVisitor(db.user(widget.user_id), widget.id, visit.visitorId);
      if ((known?.state ?? 'agent') === 'agent' && (await isUsedUp(widget)))
        return { state: 'closed' as const, text: CLOSED };
      const row = await seen(visit, said.message);
      const client = await lines.clientFor(visit);
      try {
        await lines.bring(client, visit, row, said);
      } catch (error) {
        // Its owner has deleted the conversation: another one begins.
        if (asAppError(error).status !== 404 || row.session_id === null) throw error;
        await visitors.forgetSession(db.user(widget.user_id), row.id, row.session_id);
        await lines.bring(client, visit, { ...row, session_id: null }, said);
      }
      return { state: row.state, text: null };
    },

    async handOver(visit: Visit, address: string) {
      return handOver(deps, lines, visit, async (words) => {
        const { id } = visit.widget;
        await door.atMost(`handover:${id}:${countedAddress(address)}`, HAND_OVERS_AN_HOUR, HOUR_MS);
        return seen(visit, words);
      });
    },
  };
}

async function handOver(
  { db, clock }: VisitingDeps,
  { clientFor, conversation, reached }: ReturnType<typeof createLines>,
  { widget, visitorId, ...more }: Visit,
  seen: (words: string) => Promise<visitors.VisitorRow>,
) {
  if (!widget.hands_over) throw new AppError(409, 'There is no person to ask here');
  const visit = { widget, visitorId, ...more };
  const tx = db.user(widget.user_id);
  const known = await visitors.findVisitor(tx, widget.id, visitorId);
  if (known && known.state !== 'agent') return { state: known.state };
  const row = await seen(known?.words ?? '');
  const client = await clientFor(visit);
  const session = await conversation(client, visit, row);
  if (await visitors.setState(tx, row.id, 'waiting', clock())) {
    const body = { session, role: 'assistant' as const, content: WANTS_PERSON, by: TO_PERSON };
    await reached(
      client.call(gateway.conversations.note, { params: { agentId: widget.agent_id }, body, timeout: ASK_MS }),
    );
  }
  return { state: 'waiting' as const };
}
