import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { describe, test } from 'node:test';
import type { ChannelDeps } from './channel.ts';
import { createChannel } from './channels.ts';
import { depsFor, standIn, testAgent, until } from './testing.ts';

const SELF = { id: 99, is_bot: true, first_name: 'Ada', username: 'ada_bot' };

/** Updates that wait until they are acknowledged by a higher offset, as Telegram keeps them. */
async function telegram(reply: (path: string) => unknown = () => undefined) {
  const updates: { update_id: number; message: object }[] = [];
  const service = await standIn(async ({ path, body }) => {
    const own = reply(path);
    if (own !== undefined) return own;
    if (path.endsWith('/getMe')) return { ok: true, result: SELF };
    if (path.endsWith('/getFile'))
      return { ok: true, result: { file_id: 'f', file_path: `photos/${String(body['file_id'])}` } };
    if (path.startsWith('/file/botT0KEN/')) return { body: Buffer.from(`bytes of ${path}`) };
    if (!path.endsWith('/getUpdates')) return { ok: true, result: {} };
    const news = updates.filter(({ update_id }) => update_id >= Number(body['offset']));
    if (news.length === 0) await new Promise((resolve) => setTimeout(resolve, 30));
    return { ok: true, result: news };
  });
  const write = (id: number, message: object, from = 7) =>
    updates.push({
      update_id: id,
      message: { message_id: id, chat: { id: 55, type: 'private' }, from: { id: from, is_bot: false }, ...message },
    });
  return { ...service, write };
}

const make = (agent: ChannelDeps['agent'], url: string, more: Partial<ChannelDeps> = {}) =>
  createChannel('telegram', depsFor(agent, url, { token: 'T0KEN' }, more));

describe('Telegram', () => {
  test('messages are answered, in the chat’s own session, and strangers are not but seen by the owner', async () => {
    const { url, write, called, sent } = await telegram();
    const { agent, store } = await testAgent();
    const channel = await make(agent, url, { allowedSenders: ['7'] });
    await channel.start();
    write(1, { text: 'from a stranger' }, 8);
    write(2, { text: 'hello' });
    const { body } = await called('sendMessage');
    assert.deepEqual([body['chat_id'], body['text']], [55, 'heard hello']);
    await channel.stop();
    const [session] = await store.sessions({ limit: 5, offset: 0 });
    assert.deepEqual([session?.channel, session?.key], ['telegram', '55']);
    assert.ok(sent.every(({ path }) => !path.includes('sendMessage')));
    assert.equal((await store.channelState('telegram'))['offset'], 3);
    const receipts = await store.receipts({ channel: 'telegram', limit: 10 });
    assert.deepEqual(receipts.map((one) => [one.channel, one.id, one.sender, one.state].join(' ')).toSorted(), [
      'telegram 55:1 8 ignored',
      'telegram 55:2 7 answered',
    ]);
  });

  test('what a task has said is told as it is, and the agent is not asked', async () => {
    const { url, called } = await telegram();
    const { agent, store, model } = await testAgent();
    const told = { id: 'task:1', chat: '55:5', sender: '7', extra: { chat: '55', thread: '5' } };
    await store.takeMessage('telegram', { ...told, text: '', words: 'Two things are new' });
    const channel = await make(agent, url, { allowedSenders: ['7'] });
    await channel.start();
    const { body } = await called('sendMessage');
    assert.deepEqual(
      [body['chat_id'], body['message_thread_id'], body['text'], model.requests.length],
      [55, 5, 'Two things are new', 0],
    );
    await channel.stop();
  });

  test('what a task has said is told to nobody whom the owner has not named', async () => {
    const { url, sent } = await telegram();
    for (const allowedSenders of [[], ['8']]) {
      const { agent, store } = await testAgent();
      const told = { id: 'task:1', chat: '55', sender: '7', text: '', words: 'Two things are new' };
      await store.takeMessage('telegram', told);
      const channel = await make(agent, url, { allowedSenders });
      await channel.start();
      const failed = async () =>
        (await store.receipts({ channel: 'telegram', limit: 9 })).filter(({ state }) => state === 'failed');
      await until(async () => (await failed()).length === 1);
      assert.match((await failed())[0]!.note ?? '', /named one by one/);
      await channel.stop();
    }
    assert.ok(sent.every(({ path }) => !path.includes('sendMessage')));
  });

  test('two messages of one poll that one answer saw get it once', async () => {
    const { url, write, called, sent } = await telegram();
    const gate = Promise.withResolvers<void>();
    const { agent, store } = await testAgent({
      script: async (_, { messages }) => {
        await gate.promise;
        return `heard ${messages.filter(({ role }) => role === 'user').length}`;
      },
    });
    write(1, { text: 'one' });
    write(2, { text: 'two' });
    write(3, { text: 'three' });
    const channel = await make(agent, url);
    await channel.start();
    // All three are stored before the first is answered: the next answer sees the other two.
    await until(async () => (await store.messages({ limit: 9, offset: 0 })).total >= 3);
    gate.resolve();
    const done = async () =>
      (await store.receipts({ channel: 'telegram', limit: 9 })).filter(({ state }) => state === 'answered');
    await until(async () => (await done()).length === 3);
    await channel.stop();
    const first = (await called('sendMessage')).body['text'];
    const answers = [first, ...sent.filter(({ path }) => path.includes('sendMessage')).map(({ body }) => body['text'])];
    assert.equal(new Set(answers).size, answers.length, `no answer twice: ${answers.join()}`);
    const texts = (await store.messages({ limit: 9, offset: 0 })).messages.filter(({ sender }) => sender === 'user');
    assert.deepEqual(texts.map(({ content }) => content).toReversed(), ['one', 'two', 'three'], 'in their order');
  });

  test('messages of one poll in several chats and topics get their own answers, each where it was asked', async () => {
    const { url, write, called } = await telegram();
    const { agent, store } = await testAgent();
    const group = { id: -100, type: 'supergroup' };
    const entities = [{ type: 'mention', offset: 0, length: 8 }];
    write(1, { text: 'one' });
    write(2, { text: 'two', chat: { id: 56, type: 'private' } }, 8);
    for (const topic of [12, 13])
      write(topic, {
        chat: group,
        text: `@ada_bot topic ${topic}`,
        entities,
        is_topic_message: true,
        message_thread_id: topic,
      });
    const channel = await make(agent, url);
    await channel.start();
    const answers: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      const { body } = await called('sendMessage');
      answers.push([body['chat_id'], body['message_thread_id'] ?? '', body['text']].join(' '));
    }
    await channel.stop();
    assert.deepEqual(answers.toSorted(), [
      '-100 12 heard topic 12',
      '-100 13 heard topic 13',
      '55  heard one',
      '56  heard two',
    ]);
    assert.equal((await store.receipts({ limit: 9 })).filter(({ state }) => state === 'answered').length, 4);
  });

  test('a captioned photo and a voice message come as attachments', async () => {
    const { url, write, called } = await telegram();
    const { agent, files } = await testAgent();
    const channel = await make(agent, url);
    await channel.start();
    const photo = [
      { file_id: 'small', file_size: 1 },
      { file_id: 'large.png', file_size: 20 },
    ];
    write(1, { photo, caption: 'what is this?' });
    const told = String((await called('sendMessage')).body['text']);
    assert.match(told, /what is this\?/);
    assert.match(told, /uploads\/photo-1\.jpg/);
    assert.equal(await files.read('uploads/photo-1.jpg'), 'bytes of /file/botT0KEN/photos/large.png');
    write(2, { voice: { file_id: 'v', file_size: 20, mime_type: 'audio/ogg' } });
    assert.match(String((await called('sendMessage')).body['text']), /uploads\/voice-2\.ogg/);
    write(3, { document: { file_id: 'd', file_name: '../../../etc/x', file_size: 30e6 }, caption: 'huge' });
    assert.match(String((await called('sendMessage')).body['text']), /huge\n\n\[attached file x is not here/);
    await channel.stop();
  });

  test('in a group it answers who speaks to it, in the topic of the message, as a reply', async () => {
    const { url, write, called } = await telegram();
    const { agent, store } = await testAgent();
    const channel = await make(agent, url);
    await channel.start();
    const chat = { id: -100, type: 'supergroup' };
    write(1, { chat, text: 'not for us' });
    write(2, { chat, text: '@other_bot hi', entities: [{ type: 'mention', offset: 0, length: 10 }] });
    write(3, {
      chat,
      text: '@Ada_bot hello',
      entities: [{ type: 'mention', offset: 0, length: 8 }],
      is_topic_message: true,
      message_thread_id: 12,
    });
    const { body } = await called('sendMessage');
    assert.deepEqual(
      [body['chat_id'], body['text'], body['message_thread_id'], body['reply_parameters']],
      [-100, 'heard hello', 12, { message_id: 3, allow_sending_without_reply: true }],
    );
    // The bot began this topic, and nobody speaks to it there.
    const began = { from: { id: 99 }, forum_topic_created: { name: 'News' } };
    write(4, { chat, text: 'among us', is_topic_message: true, message_thread_id: 13, reply_to_message: began });
    write(5, { chat, text: 'and this?', reply_to_message: { from: { id: 99 } } });
    const second = (await called('sendMessage')).body;
    assert.deepEqual([second['text'], second['message_thread_id']], ['heard and this?', undefined]);
    await channel.stop();
    const keys = (await store.sessions({ limit: 9, offset: 0 })).map(({ key }) => key);
    assert.deepEqual(keys.filter((key) => key.startsWith('-100')).toSorted(), ['-100', '-100:12']);
    assert.equal((await store.receipts({ limit: 9 })).length, 2, 'what is not for us is not written down');
  });

  test('pictures that are sent together to it in a group all come; others’ do not', async () => {
    const { url, write } = await telegram();
    const { agent, files, store } = await testAgent();
    const chat = { id: -100, type: 'supergroup' };
    const picture = (id: number, album: string, more: object = {}) =>
      write(id, { chat, photo: [{ file_id: `p${id}`, file_size: 9 }], media_group_id: album, ...more });
    picture(1, 'theirs', { caption: 'look, all' });
    picture(2, 'theirs');
    picture(3, 'ours', { caption: '@ada_bot look', caption_entities: [{ type: 'mention', offset: 0, length: 8 }] });
    picture(4, 'ours');
    picture(5, 'ours');
    write(6, { chat, text: 'not for it' });
    const channel = await make(agent, url);
    await channel.start();
    await until(async () => {
      const receipts = await store.receipts({ limit: 9 });
      return receipts.length === 3 && receipts.every(({ state }) => state === 'answered');
    });
    await channel.stop();
    for (const id of [3, 4, 5])
      assert.equal(await files.read(`uploads/photo-${id}.jpg`), `bytes of /file/botT0KEN/photos/p${id}`);
  });

  test('an answer that a release without a table for it left behind is delivered at the next start, once', async () => {
    const { url, called } = await telegram();
    const { agent, store, model } = await testAgent();
    const pending = [{ id: '55:1', chat: '55', sender: '7', text: 'still there?' }];
    await store.changeChannelState('telegram', () => ({ pending, offset: 2 }));
    const channel = await make(agent, url);
    await channel.start();
    assert.equal((await called('sendMessage')).body['text'], 'heard still there?');
    await channel.stop();
    assert.equal(model.requests.length, 1);
    assert.deepEqual((await store.channelState('telegram'))['pending'], []);
  });

  test('what another process answers is left alone, and taken up when that one is gone', async () => {
    const { url, called, sent } = await telegram();
    const { agent, store } = await testAgent();
    await store.takeMessage('telegram', { id: '55:1', chat: '55', sender: '7', text: 'still there?' });
    const until = Date.now() + 300;
    assert.equal((await store.claimMessages('telegram', { owner: 'the other', ttlMs: 300 }, 5)).length, 1);
    const channel = await make(agent, url, { holdMs: 90 });
    await channel.start();
    assert.equal((await called('sendMessage')).body['text'], 'heard still there?');
    assert.ok(Date.now() >= until);
    await channel.stop();
    assert.ok(sent.every(({ path }) => !path.includes('sendMessage')));
    assert.equal((await store.receipts({ limit: 1 }))[0]?.state, 'answered');
  });

  test('an answer that the service does not take is sent again, without another model call', async () => {
    let refusals = 2;
    const { url, write, called } = await telegram((path) =>
      path.endsWith('sendMessage') && refusals-- > 0 ? { status: 500, body: { ok: false } } : undefined,
    );
    const { agent, store, model } = await testAgent();
    write(1, { text: 'hello' });
    const channel = await make(agent, url, { holdMs: 15 });
    await channel.start();
    for (let sends = 0; sends < 3; sends++) assert.equal((await called('sendMessage')).body['text'], 'heard hello');
    await until(async () => (await store.receipts({ limit: 1 }))[0]?.state === 'answered');
    await channel.stop();
    assert.equal(model.requests.length, 1);
    assert.match((await store.logs({ limit: 1, level: 'error' })).logs[0]?.message ?? '', /not be delivered yet/);
  });

  test('of a long answer only what the service has not taken is sent again', async () => {
    let sends = 0;
    const { url, write, called } = await telegram((path) =>
      path.endsWith('sendMessage') && ++sends === 2 ? { status: 502, body: {} } : undefined,
    );
    const { agent, store } = await testAgent({ script: () => `${'a'.repeat(4000)} ${'b'.repeat(4000)}` });
    write(1, { text: 'hello' });
    const channel = await make(agent, url, { holdMs: 15 });
    await channel.start();
    const letters = [];
    for (let count = 0; count < 3; count++) letters.push(String((await called('sendMessage')).body['text'])[0]);
    assert.deepEqual(letters, ['a', 'b', 'b']);
    await until(async () => (await store.receipts({ limit: 1 }))[0]?.state === 'answered');
    await channel.stop();
  });

  test('one who has blocked the bot is not tried again', async () => {
    const { url, write } = await telegram((path) =>
      path.endsWith('sendMessage')
        ? { status: 403, body: { ok: false, description: 'Forbidden: bot was blocked by the user' } }
        : undefined,
    );
    const { agent, store } = await testAgent();
    write(1, { text: 'hello' });
    const channel = await make(agent, url);
    await channel.start();
    const receipt = await until(async () =>
      (await store.receipts({ limit: 1 })).find(({ state }) => state === 'failed'),
    );
    assert.match(receipt.note ?? '', /blocked by the user/);
    await channel.stop();
  });

  test('an answer that waited for an approval is sent when somebody has decided', async () => {
    const { url, write, called } = await telegram();
    const { agent, store } = await testAgent();
    const plain = agent.ask.bind(agent);
    let decided = false;
    const ask: typeof agent.ask = async (input, ...rest) => {
      const answer = await plain(input, ...rest);
      return decided ? answer : { ...answer, outcome: 'waiting', reply: 'This needs an approval.' };
    };
    const standing = { id: agent.id, store, ask, workspace: () => agent.workspace() };
    const channel = await make(standing, url, { holdMs: 30 });
    await channel.start();
    write(1, { text: 'count, please' });
    assert.match(String((await called('sendMessage')).body['text']), /needs an approval/);
    decided = true;
    assert.equal((await called('sendMessage')).body['text'], 'heard count, please', 'the sentence comes once');
    await channel.stop();
  });

  test('one process at a time listens', async () => {
    const [mine, others] = [await telegram(), await telegram()];
    const one = await testAgent();
    const claims = new EventEmitter();
    const claim: typeof one.store.claim = async (...asked) => {
      const work = await one.store.claim(...asked);
      claims.emit('answered', work);
      return work;
    };
    const two = await testAgent({ store: { ...one.store, claim } });
    const first = await make(one.agent, mine.url);
    const second = await make(two.agent, others.url);
    await first.start();
    await mine.called('getUpdates');
    const answered = once(claims, 'answered');
    await second.start();
    assert.deepEqual(await answered, [undefined], 'it is not its turn');
    await mine.called('getUpdates');
    assert.deepEqual(others.sent, []);
    await first.stop();
    await second.stop();
  });

  const troubles: [what: string, status: number, description: string, told: RegExp, state: string][] = [
    ['a refused token', 401, 'Unauthorized', /refused the token/, 'refused'],
    [
      'a webhook elsewhere',
      409,
      "Conflict: can't use getUpdates method while webhook is active",
      /set a webhook/,
      'failed',
    ],
    ['another reader', 409, 'Conflict: terminated by other getUpdates request', /reads this bot/, 'failed'],
  ];
  for (const [what, status, description, told, state] of troubles)
    test(`${what} is told to the owner`, async () => {
      const { url } = await telegram((path) =>
        path.endsWith('getUpdates') ? { status, body: { ok: false, error_code: status, description } } : undefined,
      );
      const { agent, store } = await testAgent();
      const channel = await make(agent, url);
      await channel.start();
      const noted = await until(
        async () => (await store.channelState('telegram'))['status'] as { state: string; error: string } | undefined,
      );
      assert.equal(noted.state, state);
      assert.match(noted.error, told);
      assert.match((await store.logs({ limit: 1, level: 'error' })).logs[0]?.message ?? '', told);
      await channel.stop();
    });

  test('is tried with a message, and tells what is wrong', async () => {
    const { url, called } = await telegram();
    const { agent } = await testAgent();
    assert.equal(await (await make(agent, url)).test('55'), '@ada_bot');
    assert.match(String((await called('sendMessage')).body['text']), /test message/);
    const dead = await make(agent, 'http://127.0.0.1:1');
    await assert.rejects(dead.test(), { name: 'OutboundError' });
  });

  test('a file of the workspace that an answer links to goes with it', async () => {
    const { url, write, called } = await telegram();
    const { agent, files } = await testAgent({
      script: () =>
        'Here: [the plan](out/plan.txt), [x](../../etc/passwd), [y](https://example.com/z) and [gone](no.txt)',
    });
    await files.write('out/plan.txt', 'step one');
    write(1, { text: 'the plan?' });
    const channel = await make(agent, url);
    await channel.start();
    await called('sendMessage');
    const sent = (await called('sendDocument')).raw.toString();
    assert.match(sent, /name="chat_id"\r\n\r\n55/);
    assert.match(sent, /filename="plan.txt"[^]*step one/);
    await channel.stop();
  });
});
