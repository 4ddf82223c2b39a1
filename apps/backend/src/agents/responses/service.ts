import type { backend, TypesOf } from '@troupe/contract';
import { isRefused, type Database } from '@troupe/db';
import { AppError, inBatches, newId, type Clock, type RequestInfo } from '@troupe/kernel';
import * as store from './store.ts';

/** Responses that their callers look up, and go on from by name: one step each, and what led to it. */

type Body = TypesOf<typeof backend.v1.createResponse>['body'];
type InputItem = Exclude<Body['input'], string>[number];

const DAYS = 30;
/** Larger than that is answered and not kept: the reply says so. */
const MOST_KEPT = 8 * 1024 * 1024;
/** Of what is kept, for one request: as much as it could have brought itself. */
const MOST_READ = 32 * 1024 * 1024;
const MOST_STEPS = 1000;
/** A larger one is written by itself. */
const MOST_TOGETHER = 256 * 1024;

type Reply = TypesOf<typeof backend.v1.getResponse>['reply'];

interface Page {
  limit: number;
  order: 'asc' | 'desc';
  after?: string | undefined;
}

type Holding = Pick<RequestInfo, 'holds'>;

export type StoredResponses = ReturnType<typeof createStoredResponses>;

const responseId = (name: string): string => `resp_${name}`;
/** `msg_NAME`, `fc_NAME-2`, or `in_NAME-0` for what was asked. */
const ITEM_ID = /^([a-z]+)_([0-9a-f-]{36})(?:-(\d{1,6}))?$/;

const notFound = (id: string) => new AppError(404, `Response ${id} not found`);
const tooLarge = () => new AppError(413, 'Request body too large');

const itemsOf = (input: Body['input']): InputItem[] =>
  typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : input;

/** What is kept, read for one request. */
function createReading(db: Database) {
  async function one(userId: string | undefined, id: string, request: Holding): Promise<store.Kept> {
    if (userId !== undefined) request.holds(await store.bytesOf(db, userId, [id]));
    const [found] = userId === undefined ? [] : await store.find(db, userId, [id]);
    if (!found) throw notFound(id);
    return found;
  }

  /** All that was said up to and with this response, the oldest first. */
  async function upTo(userId: string, id: string, request: Holding): Promise<InputItem[]> {
    const chain = await store.chain(db, userId, id, MOST_STEPS);
    if (chain.length === 0) throw new AppError(400, `previous_response_id: there is no response ${id}`);
    const bytes = chain.reduce((sum, step) => sum + step.bytes, 0);
    if (bytes > MOST_READ || chain.length === MOST_STEPS)
      throw new AppError(413, 'previous_response_id: the conversation has become too long; send what matters of it');
    if (chain.at(-1)!.previous !== null) throw gap();
    request.holds(bytes);
    const ids = chain.map((step) => step.id);
    const kept = new Map((await store.find(db, userId, ids)).map((step) => [step.id, step]));
    return chain.toReversed().flatMap((step) => {
      const found = kept.get(step.id);
      // Forgotten between the two looks.
      if (!found) throw gap();
      return [...found.input, ...found.response.output] as InputItem[];
    });
  }

  /** In place of each name of an item, the item. */
  async function resolved(userId: string, items: readonly InputItem[], request: Holding): Promise<InputItem[]> {
    const named = items.flatMap((item) => (item.type === 'item_reference' ? [item.id] : []));
    if (named.length === 0) return [...items];
    const ids = [...new Set(named.map((id) => responseId(ITEM_ID.exec(id)?.[2] ?? '')))];
    if (ids.length > MOST_STEPS) throw tooLarge();
    const bytes = await store.bytesOf(db, userId, ids);
    if (bytes > MOST_READ) throw tooLarge();
    request.holds(bytes);
    const itemBy = finder(await store.find(db, userId, ids));
    return items.map((item) => (item.type === 'item_reference' ? itemBy(item.id) : item));
  }

  return { one, upTo, resolved };
}

interface Line {
  put: (row: store.NewResponse) => Promise<void>;
  waiting: number;
}

/**
 * What a user's calls keep at the same moment is written at once, and nobody waits for another user's. Settles when the row
 * is there: only then is its caller told of it.
 */
function createKeeping(db: Database) {
  const lines = new Map<string, Line>();
  const put = async (rows: store.NewResponse[]): Promise<undefined[]> => {
    await store.put(db, rows[0]!.userId, rows);
    return rows.map(() => undefined);
  };

  return async function keep(row: store.NewResponse): Promise<void> {
    if (store.sizeOf(row) > MOST_TOGETHER) return void (await put([row]));
    const line = lines.get(row.userId) ?? { put: inBatches(put, { mayPart: isRefused }), waiting: 0 };
    lines.set(row.userId, line);
    line.waiting += 1;
    try {
      await line.put(row);
    } finally {
      line.waiting -= 1;
      if (line.waiting === 0) lines.delete(row.userId);
    }
  };
}

export function createStoredResponses({ db, clock }: { db: Database; clock: Clock }) {
  const { one, upTo, resolved } = createReading(db);
  const keep = createKeeping(db);

  return {
    /** What the model is to be asked, and where the answer is to be kept; nothing is kept for who has no account. */
    async begin(userId: string | undefined, body: Body, request: Holding) {
      if (userId === undefined) return { whole: body, kept: undefined };
      const { previous_response_id: previous = null } = body;
      const items = await resolved(userId, itemsOf(body.input), request);
      const before = previous === null ? [] : await upTo(userId, previous, request);
      const whole: Body = { ...body, input: [...before, ...items], previous_response_id: null };
      const input = body.store === false ? '' : JSON.stringify(items);
      if (input === '' || input.length > MOST_KEPT) return { whole, kept: undefined };
      const kept = {
        id: `chatcmpl-${newId()}`,
        keep: (reply: Record<string, unknown>) =>
          keep({ id: String(reply['id']), userId, previous, input, response: JSON.stringify(reply), at: clock() }),
      };
      return { whole, kept };
    },
    get: async (userId: string | undefined, id: string, request: Holding): Promise<Reply> =>
      (await one(userId, id, request)).response as unknown as Reply,
    async remove(userId: string | undefined, id: string) {
      if (userId === undefined || !(await store.remove(db, userId, id))) throw notFound(id);
      return { id, object: 'response' as const, deleted: true as const };
    },
    async cancel(userId: string | undefined, id: string): Promise<never> {
      if (userId === undefined || (await store.bytesOf(db, userId, [id])) === 0) throw notFound(id);
      throw new AppError(400, 'Only a response in the background can be cancelled, and there are none');
    },
    async input(userId: string | undefined, id: string, page: Page, request: Holding) {
      const all = listed(await one(userId, id, request));
      const ordered = page.order === 'asc' ? all : all.toReversed();
      const from = ordered.findIndex((item) => item.id === page.after) + 1;
      const data = ordered.slice(from, from + page.limit);
      return {
        object: 'list' as const,
        data,
        first_id: data[0]?.id ?? null,
        last_id: data.at(-1)?.id ?? null,
        has_more: ordered.length > from + page.limit,
      };
    },
    forgetOld: () => store.forgetBefore(db.system, new Date(clock().getTime() - DAYS * 86_400_000)),
  };
}

/** Each response is looked through once, and each item weighed once, however often it is named. */
function finder(kept: readonly store.Kept[]): (id: string) => InputItem {
  const named = new Map(
    kept.flatMap((one) => [...listed(one), ...one.response.output].map((item) => [item['id'], item])),
  );
  const weights = new Map<string, number>();
  let room = MOST_READ;
  return (id) => {
    const item = named.get(id);
    if (!item) throw new AppError(400, `item_reference: there is no item ${id}`);
    const weight = weights.get(id) ?? Buffer.byteLength(JSON.stringify(item));
    weights.set(id, weight);
    // A name is short and may be given often; what it stands for need not be.
    room -= weight;
    if (room < 0) throw tooLarge();
    return item as InputItem;
  };
}

const gap = () =>
  new AppError(
    400,
    'previous_response_id: an earlier response of this conversation is no longer kept; send the items themselves',
  );

/** What was asked, each item under a name by which it can be given again. */
const listed = ({ id, input }: store.Kept): (store.Item & { id: string })[] =>
  input.map((item, index) => ({
    ...item,
    ...(item.type === 'message' &&
      typeof item['content'] === 'string' && { content: [{ type: 'input_text', text: item['content'] }] }),
    id: `in_${id.slice('resp_'.length)}-${index}`,
  }));
