import assert from 'node:assert/strict';
import { describe, mock, test } from 'node:test';
import { CallError } from '@troupe/contract';
import type { SessionStep } from '@troupe/contract';
import { isFinal } from './answers.ts';
import { readBusMessage } from './bus-message.ts';
import { effectOf, seen } from './effect.ts';
import { isAway, isHere, isOwn, lettersOf, newestOf, topicOf } from './letters.ts';
import type { Letter } from './letters.ts';
import { runsIn } from '../runs/runs-in.ts';
import { reasonOf } from './reason.ts';
import { withStep } from './steps.ts';
import { spentOf, stateOf, transcript } from './transcript.ts';
import type { Ending } from './transcript.ts';
import { createWriting } from './writing.ts';

let seq = 0;
const step = (type: SessionStep['type'], more: Partial<SessionStep> = {}): SessionStep =>
  ({ seq: (seq += 1), at: '2026-11-16T12:00:00Z', type, ...more }) as SessionStep;

describe('a log read as a conversation', () => {
  const call = { callId: 'c', tool: 'shell', args: '{}' };
  const asked = step('assistant', { content: 'Wait', toolCalls: [call] });
  const toolOf = (...steps: SessionStep[]) => {
    const [turn] = transcript([asked, ...steps]);
    return turn?.kind === 'agent' ? turn.tools[0] : undefined;
  };

  test('has what was said by whom, in its order', () => {
    const turns = transcript([
      step('user', { content: 'Hi' }),
      step('assistant', { content: 'Hello', model: 'm' }),
      step('imported', { role: 'user', content: 'old' }),
      step('imported', { role: 'assistant', content: 'older' }),
    ]);
    assert.deepEqual(
      turns.map(({ kind, text }) => `${kind} ${text}`),
      ['user Hi', 'agent Hello', 'user old', 'agent older'],
    );
  });

  test('what nobody said is told apart: background work that ended, a conversation that changed hands', () => {
    const background = { id: 't', member: 'qa', status: 'failed' as const };
    const turns = transcript([
      step('user', { content: '[ended]\nresult', background }),
      step('handoff', { to: { agentId: 'a', name: 'sales' } }),
    ]);
    assert.deepEqual(
      turns.map((turn) => turn.kind === 'told' && [turn.what, turn.member]),
      [
        ['failed', 'qa'],
        ['handoff', 'sales'],
      ],
    );
  });

  test('a break is told once, and what was said before it is not the answer yet', () => {
    const turns = transcript([
      step('user', { content: 'Go' }),
      asked,
      step('recovered'),
      step('recovered'),
      step('assistant', { content: 'Done' }),
    ]);
    assert.deepEqual(
      turns.map((turn, index) => [turn.kind === 'told' ? turn.what : turn.text, isFinal(turns, index)]),
      [
        ['Go', false],
        ['Wait', false],
        ['recovered', false],
        ['Done', true],
      ],
    );
  });

  test('what was said after a stop stands below the end of what was stopped, and goes on', () => {
    const steps = [
      step('user', { content: 'A story' }),
      step('cancel_requested'),
      step('user', { content: 'Rather the weather' }),
      step('assistant', { content: 'Far aw', stopped: true }),
    ];
    const end = step('run_ended', { outcome: 'cancelled', leaves: steps[2]!.seq });
    const answer = [step('assistant', { content: 'Sunny' }), step('run_ended', { outcome: 'done' })];
    assert.deepEqual(
      transcript([...steps, end, ...answer]).map(({ kind, text }) => `${kind} ${text}`),
      ['user A story', 'agent Far aw', 'note ', 'user Rather the weather', 'agent Sunny'],
    );
    assert.deepEqual([stateOf([...steps, end]), stateOf([...steps, end, ...answer])], ['open', 'idle']);
    assert.deepEqual(
      runsIn([...steps, end, ...answer]).map(({ text }) => text),
      ['Rather the weather', 'A story'],
    );
  });

  test('follows a tool from the plan to its end', () => {
    assert.equal(toolOf()?.state, 'planned');
    assert.equal(toolOf(step('tool_started', { callId: 'c' }))?.state, 'running');
    const waits = step('approval_requested', { callId: 'c', approvalId: 'a' });
    assert.deepEqual([toolOf(waits)?.state, toolOf(waits)?.approvalId], ['waiting', 'a']);
    assert.equal(toolOf(waits, step('approval_decided', { callId: 'c', approved: true }))?.state, 'running');
    assert.equal(toolOf(step('tool_result', { callId: 'c', content: 'ok' }))?.result, 'ok');
    assert.equal(toolOf(step('tool_result', { callId: 'c', isError: true }))?.state, 'failed');
  });

  test('a refused tool stays refused, whatever result is written for it', () => {
    const refused = step('approval_decided', { callId: 'c', approved: false });
    assert.equal(toolOf(refused, step('tool_result', { callId: 'c', content: 'no' }))?.state, 'refused');
  });

  test('steps of a call that is on no page are left out', () => {
    assert.deepEqual(transcript([step('tool_result', { callId: 'gone' }), step('tool_started', {})]), []);
  });

  test('a run that did not end well says why, and whether money was the reason', () => {
    assert.deepEqual(transcript([step('run_ended', { outcome: 'done' })]), []);
    const [note] = transcript([step('run_ended', { outcome: 'failed', reason: 'cap', refusal: 'cap' } as never)]);
    assert.ok(note?.kind === 'note');
    assert.deepEqual([note.outcome, note.text, note.refusal !== undefined], ['failed', 'cap', true]);
  });

  test('is open from an input to the end of its run, and waits while somebody is asked', () => {
    const [user, ask] = [step('user'), step('approval_requested', { approvalId: 'a' })];
    const [decided, end] = [step('approval_decided', { approvalId: 'a' }), step('run_ended')];
    assert.equal(stateOf([]), 'idle');
    assert.equal(stateOf([user]), 'open');
    assert.equal(stateOf([user, ask]), 'waiting');
    assert.equal(stateOf([user, ask, decided]), 'open');
    assert.equal(stateOf([user, ask, end]), 'idle');
    // A page may begin in the middle of a run.
    assert.equal(stateOf([step('tool_started')]), 'open');
    assert.equal(stateOf([step('imported')]), 'idle');
  });

  test('costs what its steps cost, the end of a run not counted again', () => {
    const spent = { turns: 1, tokens: 10, costMicros: 5, ms: 7 };
    const all = [step('assistant', { spent }), step('tool_result', { spent }), step('run_ended', { spent })];
    assert.deepEqual(spentOf(all), { turns: 2, tokens: 20, costMicros: 10, ms: 14 });
    assert.deepEqual(spentOf([]), { turns: 0, tokens: 0, costMicros: 0, ms: 0 });
  });

  test('takes each step once, and none that is late', () => {
    const [one, two] = [step('user'), step('assistant')];
    const steps = withStep([one], two);
    assert.deepEqual(steps, [one, two]);
    assert.equal(withStep(steps, two), steps);
    assert.equal(withStep(steps, one), steps);
    assert.deepEqual(withStep([], two), [two]);
  });
});

describe('what a tool would do', () => {
  const of = (tool: string, args: unknown) => effectOf(tool, JSON.stringify(args));

  test('is told by what it changes', () => {
    assert.deepEqual(of('write_file', { path: 'a', content: 'b' }), { kind: 'file', path: 'a', text: 'b' });
    assert.deepEqual(of('move_file', { source: 'a', destination: 'b' }), { kind: 'move', from: 'a', to: 'b' });
    assert.deepEqual(of('delete_file', { path: 'a' }), { kind: 'remove', path: 'a' });
    assert.deepEqual(of('shell', { cmd: 'ls', cwd: '/w' }), { kind: 'command', command: 'ls', folder: '/w' });
    assert.deepEqual(of('fetch', { url: 'https://a' }), { kind: 'page', url: 'https://a' });
    assert.deepEqual(of('transfer_task', { agent: 'a', task: 't', expected_output: 'and more' }), {
      kind: 'task',
      to: 'a',
      task: 't',
      expected: 'and more',
    });
    assert.deepEqual(of('other', { a: 1, b: null }), {
      kind: 'other',
      fields: [
        ['a', '1'],
        ['b', ''],
      ],
    });
  });

  test('nothing of it is hidden from who decides', () => {
    const odd = 'ls\u202E fr- mr\u2066\u200B';
    const plain = 'ls[U+202E] fr- mr[U+2066][U+200B]';
    const told = (tool: string, args: object) => JSON.stringify(seen(of(tool, args)));
    for (const [tool, args] of [
      ['shell', { cmd: odd, cwd: odd }],
      ['fetch', { url: odd }],
      ['write_file', { path: odd, content: odd }],
      ['edit_file', { path: odd, edits: [{ oldText: odd, newText: odd }] }],
      ['move_file', { source: odd, destination: odd }],
      ['delete_file', { path: odd }],
      ['transfer_task', { agent: odd, task: odd, expected_output: odd }],
      ['other', { [odd]: odd }],
    ] as const) {
      const shown = told(tool, args);
      assert.doesNotMatch(shown, /[\p{Cf}]/u, tool);
      assert.ok(shown.includes(plain), shown);
    }
  });

  test('edits are shown as far as they are edits', () => {
    const edit = { oldText: 'a', newText: 'b' };
    const edits = (given: unknown) => (of('edit_file', { path: 'p', edits: given }) as { edits: unknown }).edits;
    assert.deepEqual(edits([edit, null, 'x', [edit], {}]), [
      { before: 'a', after: 'b' },
      { before: '', after: '' },
    ]);
    for (const odd of [null, 'x', {}, undefined, 7]) assert.deepEqual(edits(odd), []);
  });

  test('arguments that are broken, or no object, are shown as they came', () => {
    for (const args of ['{"half', '[]', 'null', '7', '"text"', ''])
      assert.deepEqual(effectOf('other', args), { kind: 'other', fields: [['', args]] });
    assert.deepEqual(effectOf('shell', 'null'), { kind: 'other', fields: [['', 'null']] });
    // One that is cut because it is long is no empty file.
    const cut = '{"path":"a.md","content":"Hel';
    assert.deepEqual(effectOf('write_file', cut), { kind: 'other', fields: [['', cut]] });
  });

  test('an argument that should be a text and is none is written out', () => {
    assert.deepEqual(of('shell', { cmd: { a: 1 } }), { kind: 'command', command: '{"a":1}', folder: '' });
  });
});

describe('a message between agents', () => {
  const told = (payload: string, action = 'BOOKING_OFFER') =>
    readBusMessage(`Message from the agent agent-1, action ${action}:\n${payload}`);

  test('has a sender and words; ids are for programs', () => {
    const read = told('{"venue": "Hall", "bookingId": "x", "nested": {"a": 1}, "none": null}');
    assert.equal(read?.from, 'agent-1');
    assert.match(read?.text ?? '', /Hall/);
    assert.doesNotMatch(read?.text ?? '', /bookingId|nested|none/);
  });

  test('that is no JSON object is said as it came', () => {
    for (const payload of ['plain words', '"quoted"', '[1,2]', '7'])
      assert.ok(told(payload)?.text.endsWith(payload), payload);
    assert.equal(told('null', 'PING')?.text.split('\n').length, 1);
  });

  test('any other text is none', () => {
    for (const text of ['', 'Hello', 'Message from the agent x', `x\n${'-'.repeat(2000)}`])
      assert.equal(readBusMessage(text), undefined);
  });
});

describe('letters', () => {
  const letter = (more: Partial<Letter>): Letter => ({
    id: 'l',
    text: 't',
    attachments: [],
    to: { topic: 'dashboard' },
    ...more,
  });

  test('wait when the platform is at fault, and not when they are', () => {
    for (const status of [0, 429, 500, 503]) assert.ok(isAway(new CallError(status, {})), String(status));
    for (const status of [400, 401, 404, 413]) assert.ok(!isAway(new CallError(status, {})), String(status));
    assert.ok(isAway(new TypeError('network')));
  });

  test('that an older page or somebody else left in the store are read as far as they are letters', () => {
    assert.deepEqual(lettersOf([{ id: 'a', text: 'b' }]), [letter({ id: 'a', text: 'b' })]);
    const whole = letter({ problem: 'too long', to: { sessionId: 's' } });
    assert.deepEqual(lettersOf([whole]), [whole]);
    for (const odd of [undefined, null, 'x', {}, [null], [{}], [{ id: 1, text: 2 }]])
      assert.deepEqual(lettersOf(odd), []);
  });

  test('belong where they are addressed to, until they have arrived', () => {
    assert.ok(isHere(letter({}), undefined, 'dashboard'));
    assert.ok(!isHere(letter({}), undefined, 'talk-1'));
    assert.ok(isHere(letter({ to: { sessionId: 's' } }), 's', 'x'));
    assert.ok(isHere(letter({ to: { branchOf: 's', at: 3 } }), 's', 'x'));
    assert.ok(!isHere(letter({ to: { branchOf: 's', at: 3 }, sessionId: 'new' }), 's', 'x'));
    assert.ok(isHere(letter({ to: { branchOf: 's', at: 3 }, sessionId: 'new' }), 'new', 'x'));
  });

  test('conversations that were begun here are ours, and the last used comes first', () => {
    const head = (key: string, updatedAt: string, channel = 'api') => ({ key, updatedAt, channel });
    assert.ok(isOwn(head('dashboard', '')) && isOwn(head('talk-7', '')));
    assert.ok(!isOwn(head('dashboard', '', 'telegram')) && !isOwn(head('my-talk-7', '')));
    const [old, young, other] = [head('dashboard', '2026-01'), head('talk-7', '2026-02'), head('x', '2026-03')];
    assert.equal(newestOf([old, young, other]), young);
    assert.equal(newestOf([other]), undefined);
  });

  test('a new conversation has a topic of its own', () => {
    assert.equal(topicOf('new-abc'), 'talk-abc');
    assert.equal(topicOf('some-session'), 'dashboard');
    assert.equal(topicOf(undefined), 'dashboard');
  });
});

describe('what is being written', () => {
  function setUp() {
    const frames: (() => void)[] = [];
    const told = mock.fn();
    const writing = createWriting((show) => void frames.push(show));
    writing.subscribe(told);
    return { frames, told, writing, draw: () => frames.splice(0).forEach((show) => show()) };
  }

  test('is shown once a frame, however fast it comes', () => {
    const { frames, told, writing, draw } = setUp();
    for (const text of ['a', 'b', 'c']) writing.add(text, false);
    assert.deepEqual([frames.length, writing.text(), told.mock.callCount()], [1, '', 0]);
    draw();
    assert.deepEqual([writing.text(), told.mock.callCount()], ['abc', 1]);
    writing.add('d', false);
    draw();
    assert.equal(writing.text(), 'abcd');
  });

  test('begins anew where the answer does, and goes when it is said', () => {
    const { writing, draw } = setUp();
    writing.add('first', false);
    writing.add('second', true);
    draw();
    assert.equal(writing.text(), 'second');
    writing.clear();
    assert.equal(writing.text(), '');
  });

  test('a frame that comes after the end shows nothing old', () => {
    const { writing, draw } = setUp();
    writing.add('old', false);
    writing.clear();
    draw();
    assert.equal(writing.text(), '');
  });
});

test('a cap that is passed is said in sums, by what the meter says and not by its words', () => {
  const refusal = { code: 'QUOTA_EXCEEDED', scope: 'user', unit: 'usd', used: 5.01, limit: 5 };
  const [ended] = transcript([
    { seq: 1, at: '', type: 'run_ended', outcome: 'failed', reason: 'In any words', refusal },
  ]) as [Ending];
  assert.match(reasonOf(ended), /\$5\.01.*\$5\.00/);
  const ofTokens = { ...refusal, scope: 'tokens', unit: 'tokens' };
  assert.equal(reasonOf({ text: 'No tokens left', refusal: ofTokens }), 'No tokens left');
  assert.equal(reasonOf({ text: 'Spend cap reached: 5 of 5 USD used' }), 'Spend cap reached: $5.00 of $5.00 used');
  const [odd] = transcript([{ seq: 2, at: '', type: 'run_ended', outcome: 'failed', reason: 'odd', refusal: null }]);
  assert.equal(reasonOf(odd as Ending), 'odd');
  assert.equal(reasonOf({ text: 'Model away, 0.5 USD lost' }), 'Model away, $0.50 lost');
});
