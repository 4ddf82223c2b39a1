import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createOpenAI } from '@ai-sdk/openai';
import { replyChat } from '@troupe/ai';
import { addUser } from '@troupe/testing/services/users';
import { reset, startWorld, type World } from '@troupe/testing/services/world';
import { generateText, isStepCount, tool } from 'ai';
import { sql } from 'kysely';
import OpenAI from 'openai';
import { z } from 'zod';
import { createStoredResponses } from './service.ts';

/** Responses that are kept, by the client of OpenAI. */

let world: World;
let openai: OpenAI;
let other: OpenAI;
before(async () => {
  world = await startWorld();
  const baseURL = `${world.services.backend}/v1`;
  openai = new OpenAI({ baseURL, apiKey: world.user.key, maxRetries: 0 });
  other = new OpenAI({
    baseURL,
    apiKey: (await addUser(world.services.runtime, { plan: 'network' })).key,
    maxRetries: 0,
  });
});
beforeEach(() => reset(world));
after(() => world.stop());

const model = 'openai/gpt-4o-mini';
const asked = (): { role: string; content: unknown }[] => world.openrouter.requests.at(-1)!.body['messages'] as never;

describe('responses that are kept', () => {
  it('are found again, listed with what they were asked, and forgotten', async () => {
    const made = await openai.responses.create({ model, input: 'Hi', instructions: 'Be brief', metadata: { a: 'b' } });
    assert.match(made.id, /^resp_[0-9a-f-]{36}$/);
    assert.equal((made as unknown as { store: boolean }).store, true);
    const { output_text: _, ...rest } = made;
    const { output_text: text, ...found } = await openai.responses.retrieve(made.id);
    assert.equal(text, 'Hello from the provider.');
    assert.deepEqual(found, rest);
    const items = [];
    for await (const item of openai.responses.inputItems.list(made.id)) items.push(item);
    assert.deepEqual(items, [
      {
        id: `in_${made.id.slice(5)}-0`,
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: 'Hi' }],
      },
    ]);
    await assert.rejects(openai.responses.cancel(made.id), { status: 400, type: 'invalid_request_error' });
    await openai.responses.delete(made.id);
    await assert.rejects(openai.responses.retrieve(made.id), { status: 404, type: 'not_found_error' });
    await assert.rejects(openai.responses.delete(made.id), { status: 404 });
  });

  it('are gone on from by name, streamed or not, and the conversation is whole', async () => {
    const first = await openai.responses.create({ model, input: 'One', instructions: 'Only once' });
    const stream = await openai.responses.create({ model, input: 'Two', previous_response_id: first.id, stream: true });
    let second: OpenAI.Responses.Response | undefined;
    for await (const event of stream) if (event.type === 'response.completed') second = event.response;
    assert.equal(second?.previous_response_id, first.id);
    const said = [
      ['user', 'One'],
      ['assistant', 'Hello from the provider.'],
      ['user', 'Two'],
    ];
    assert.deepEqual(
      asked().map(({ role, content }) => [role, content]),
      said,
    );
    await openai.responses.create({ model, input: 'Three', previous_response_id: second.id, store: false });
    assert.deepEqual(
      asked().map(({ role, content }) => [role, content]),
      [...said, ['assistant', 'Hello from the provider.'], ['user', 'Three']],
    );
    // Without its beginning it is another conversation: nobody is answered as if it were this one.
    await openai.responses.delete(first.id);
    await assert.rejects(openai.responses.create({ model, input: 'Four', previous_response_id: second.id }), {
      status: 400,
      message: /no longer kept/,
    });
  });

  it('go on with the result of a tool alone', async () => {
    world.openrouter.answer((request, response) => {
      const messages = request.body['messages'] as { role: string; content: string }[];
      const result = messages.findLast(({ role }) => role === 'tool');
      if (result) return replyChat(request, response, { content: `It is ${result.content}.` });
      replyChat(request, response, { content: null, toolCalls: [{ id: 'c', name: 'weather', arguments: '{}' }] });
    });
    const tools = [{ type: 'function' as const, name: 'weather', parameters: {}, strict: false }];
    const first = await openai.responses.create({ model, input: 'Weather?', tools });
    const [call] = first.output;
    assert.ok(call?.type === 'function_call');
    const second = await openai.responses.create({
      model,
      tools,
      previous_response_id: first.id,
      input: [{ type: 'function_call_output', call_id: call.call_id, output: 'sunny' }],
    });
    assert.equal(second.output_text, 'It is sunny.');
  });

  it('let the AI SDK name their items, as it does by itself', async () => {
    world.openrouter.answer((request, response) => {
      const messages = request.body['messages'] as { role: string; content: string }[];
      const result = messages.findLast(({ role }) => role === 'tool');
      if (result) return replyChat(request, response, { content: `It is ${result.content}.` });
      replyChat(request, response, { content: 'Hm.', toolCalls: [{ id: 'c', name: 'weather', arguments: '{}' }] });
    });
    const troupe = createOpenAI({ baseURL: `${world.services.backend}/v1`, apiKey: world.user.key });
    const weather = tool({ description: 'w', inputSchema: z.object({}), execute: () => Promise.resolve('windy') });
    const { text } = await generateText({
      model: troupe(model),
      prompt: 'Weather?',
      tools: { weather },
      stopWhen: isStepCount(3),
    });
    assert.match(text, /windy/);
    assert.deepEqual(
      asked().map(({ role }) => role),
      ['user', 'assistant', 'tool'],
    );
  });

  it('are nobody else’s', async () => {
    const made = await openai.responses.create({ model, input: 'Secret' });
    await assert.rejects(other.responses.retrieve(made.id), { status: 404 });
    await assert.rejects(other.responses.delete(made.id), { status: 404 });
    await assert.rejects(other.responses.inputItems.list(made.id), { status: 404 });
    await assert.rejects(other.responses.create({ model, input: 'And?', previous_response_id: made.id }), {
      status: 400,
      message: /there is no response/,
    });
    const id = (made.output[0] as { id: string }).id;
    await assert.rejects(other.responses.create({ model, input: [{ type: 'item_reference', id }] }), {
      status: 400,
      message: /there is no item/,
    });
    const again = await openai.responses.create({ model, input: [{ type: 'item_reference', id }] });
    assert.equal(again.status, 'completed');
  });

  it('are not kept when that is not wanted, when they are too large, or when the model failed', async () => {
    const { id } = await openai.responses.create({ model, input: 'Hi', store: false });
    await assert.rejects(openai.responses.retrieve(id), { status: 404 });
    const large = await openai.responses.create({ model, input: 'x'.repeat(9_000_000) });
    assert.equal((large as unknown as { store: boolean }).store, false);
    await assert.rejects(openai.responses.retrieve(large.id), { status: 404 });
    world.openrouter.answer((_request, response) => {
      response.writeHead(200).write('data: {"choices":[{"delta":{"content":"Half"}}]}\n\n', () => response.destroy());
    });
    const stream = await openai.responses.create({ model, input: 'Hi', stream: true });
    let failed = '';
    for await (const event of stream) if (event.type === 'response.failed') failed = event.response.id;
    assert.match(failed, /^resp_/);
    await assert.rejects(openai.responses.retrieve(failed), { status: 404 });
  });

  it('make room for newer ones when they are more than a user’s share', async () => {
    const first = await openai.responses.create({ model, input: 'Old' });
    // As if it had been a large one.
    await world.services.runtime.db.system
      .updateTable('stored_responses')
      .set({ bytes: 2 ** 26 })
      .execute();
    const last = await openai.responses.create({ model, input: 'New' });
    await assert.rejects(openai.responses.retrieve(first.id), { status: 404 });
    assert.equal((await openai.responses.retrieve(last.id)).id, last.id);
  });

  it('are there when their answers are, whoever asks at the same moment', async () => {
    const { db } = world.services.runtime;
    await db.system.deleteFrom('stored_responses').execute();
    const odd = ['\ud83d\ude00', '"\\{}', 'NULL', ''];
    const calls = Array.from({ length: 60 }, async (_, index) => {
      const asked = index % 2 === 0 ? openai : other;
      const input = `${odd[index % odd.length]} ${index}`;
      const made = await asked.responses.create({ model, input, stream: false });
      const found = await asked.responses.retrieve(made.id);
      assert.equal(found.output_text, 'Hello from the provider.');
      const { data } = await asked.responses.inputItems.list(made.id);
      assert.deepEqual((data[0] as { content: unknown }).content, [{ type: 'input_text', text: input }]);
    });
    await Promise.all(calls);
    const { all } = await db.system
      .selectFrom('stored_responses')
      .select(({ fn }) => fn.countAll<bigint>().as('all'))
      .executeTakeFirstOrThrow();
    assert.equal(Number(all), 60);
  });

  it('are written together when they come together', async () => {
    const { db } = world.services.runtime;
    await db.system.deleteFrom('stored_responses').execute();
    const responses = createStoredResponses({ db, clock: () => new Date() });
    const request = { holds: () => undefined } as never;
    const kept = await Promise.all(
      Array.from(
        { length: 20 },
        async () => (await responses.begin(world.user.id, { input: 'Hi' } as never, request)).kept!,
      ),
    );
    await Promise.all(kept.map((one) => one.keep({ id: one.id.replace('chatcmpl-', 'resp_'), output: [] })));
    // What one statement wrote bears the mark of one transaction.
    const { rows } = await sql<{ all: number; writes: number }>`
      select count(*)::int as all, count(distinct xmin::text)::int as writes from stored_responses`.execute(db.system);
    assert.equal(rows[0]?.all, 20);
    assert.ok(rows[0].writes <= 2, `${rows[0].writes} writes`);
  });

  it('lose nothing to one beside them that cannot be written', async () => {
    const { db, clock } = { db: world.services.runtime.db, clock: () => new Date() };
    const responses = createStoredResponses({ db, clock });
    const request = { holds: () => undefined } as never;
    const begin = async () => (await responses.begin(world.user.id, { input: 'Hi' } as never, request)).kept!;
    const [first, second, third] = [await begin(), await begin(), await begin()];
    const ids = [first, second, third].map(({ id }) => id.replace('chatcmpl-', 'resp_'));
    await first.keep({ id: ids[0], output: [] });
    const again = await Promise.allSettled([
      second.keep({ id: ids[1], output: [] }),
      // The name is taken.
      first.keep({ id: ids[0], output: [] }),
      third.keep({ id: ids[2], output: [] }),
    ]);
    assert.deepEqual(
      again.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    for (const id of ids) assert.equal((await responses.get(world.user.id, id, request)).id, id);
  });

  it('are not gone on from when they are more than a request may bring', async () => {
    let { id } = await openai.responses.create({ model, input: 'One' });
    ({ id } = await openai.responses.create({ model, input: 'Two', previous_response_id: id }));
    await world.services.runtime.db.system.updateTable('stored_responses').set({ bytes: 17_000_000 }).execute();
    await assert.rejects(openai.responses.create({ model, input: 'And?', previous_response_id: id }), {
      status: 413,
      message: /too long/,
    });
  });
});
