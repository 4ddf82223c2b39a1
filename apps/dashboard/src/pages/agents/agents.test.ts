import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { web } from '@troupe/contract';
import type { ScheduledTask, SessionStep, SessionHead } from '@troupe/contract';
import type { Team } from '@troupe/domain';
import { check } from '../../checks.ts';
import { entriesShown, MOST_ENTRIES, withEntry } from './work/log-entries.ts';
import type { Entry } from './work/log-entries.ts';
import { MOST_EVENTS, timelineOf } from './work/timeline.ts';
import { NEW_AGENT, provisionBody } from './agents/new-agent.ts';
import { configText, lines, parseConfig, toList } from './config/config-text.ts';
import { saidBefore } from './demo-lines.ts';
import { readCsv } from './files/csv.ts';
import { endOf, inside, nameOf, safeName } from './files/paths.ts';
import { tabOf } from './agents/places.ts';
import { titleOf } from './conversations/title.ts';
import { tagsIn, withTag } from './agents/tags.ts';
import { isService, NO_SERVER, pairs, serverBody } from './connections/mcp-server.ts';
import { findModels, MOST_MODELS } from './model-search.ts';
import { placeOf } from './runs/waterfall.ts';
import { draftOf, zonesFor } from './tasks/task-draft.ts';
import { cut, place } from './teams/delegation-layout.ts';
import { linesOf } from './teams/team-lines.ts';

describe('a new agent', () => {
  test('is sent as the contract takes it, channels only with their token', () => {
    const form = { ...NEW_AGENT, name: 'Ada', tokens: { channelA: 't', channelB: '' } };
    const body = provisionBody(form);
    check(web.agents.provision, { body });
    assert.deepEqual(Object.keys(body.config).sort(), ['channelTokenA', 'instruction', 'tools']);
  });
});

describe('logs', () => {
  const entry = (id: string, level = 'info') => ({ id, level }) as Entry;

  test('have each entry once, the newest first', () => {
    assert.deepEqual(withEntry([entry('a')], entry('b')), [entry('b'), entry('a')]);
    const had = [entry('a')];
    assert.equal(withEntry(had, entry('a')), had);
    assert.deepEqual(entriesShown([entry('b'), entry('a')], [entry('a'), entry('z')], ''), [
      entry('b'),
      entry('a'),
      entry('z'),
    ]);
  });

  test('are of one level where one is chosen, and not endless', () => {
    assert.deepEqual(entriesShown([entry('a', 'error')], [entry('b')], 'error'), [entry('a', 'error')]);
    let all: Entry[] = [];
    for (let index = 0; index < MOST_ENTRIES + 5; index += 1) all = withEntry(all, entry(String(index)));
    assert.deepEqual([all.length, all[0]?.id], [MOST_ENTRIES, String(MOST_ENTRIES + 4)]);
  });
});

describe('a configuration as text', () => {
  test('comes back as it was', () => {
    const config = { model: { default: 'm' }, list: [1], שלום: null };
    assert.deepEqual(parseConfig(configText(config)), config);
  });

  test('is none when it is no JSON, or no object', () => {
    for (const text of ['', '{', '[]', 'null', '7', '"x"', '-'.repeat(2000), '{"a":1}}'])
      assert.equal(parseConfig(text), undefined);
  });

  test('lists are lines', () => {
    assert.equal(lines(['a', 'b']), 'a\nb');
    assert.equal(lines('a'), '');
    assert.deepEqual(toList(' a \n\n\tb\r\n'), ['a', 'b']);
    assert.deepEqual(toList(lines(['x.org', 'y.org'])), ['x.org', 'y.org']);
  });
});

test('the demo is told what the visitor said, as the contract takes it', () => {
  const before = saidBefore([
    { mine: true, text: 'Hi' },
    { mine: false, text: 'Hello', model: 'm' },
    { mine: true, text: 'And?' },
  ]);
  assert.deepEqual(
    before.map(({ content }) => content),
    ['Hi', 'And?'],
  );
  check(web.demo.chat, { body: { message: 'So', conversation: before } });
});

describe('files', () => {
  test('get names that any workspace can have', () => {
    assert.equal(safeName('report.pdf'), 'report.pdf');
    assert.equal(safeName('../../etc/passwd'), '-..-etc-passwd');
    assert.equal(safeName('...'), 'file');
    assert.equal(safeName(''), 'file');
    assert.equal(safeName('a\0b\nc:d\\e'), 'a-b-c-d-e');
    assert.equal(safeName('דוח.pdf'), 'דוח.pdf');
  });

  test('a long name keeps its end, and no half of a character', () => {
    const long = `${'🙂'.repeat(200)}.png`;
    const safe = safeName(long);
    assert.ok(safe.startsWith('🙂') && safe.endsWith('🙂.png'));
    assert.ok(safe.isWellFormed());
    // Bytes are what a disk counts: letters of many languages have three each.
    for (const name of [long, `${'报'.repeat(100)}.pdf`, `${'a'.repeat(300)}.tar.gz`, `x.${'é'.repeat(300)}`]) {
      const bytes = Buffer.byteLength(safeName(name));
      assert.ok(bytes <= 180 && bytes > 170, `${bytes} bytes`);
    }
    assert.equal(safeName(`${'报'.repeat(50)}.pdf`), `${'报'.repeat(50)}.pdf`);
    assert.ok(!safeName(`${'.'.repeat(50)}${'x'.repeat(250)}`).startsWith('.'));
  });

  test('have a folder, a name and an end', () => {
    assert.equal(inside('.', 'a'), 'a');
    assert.equal(inside('b/c', 'a'), 'b/c/a');
    assert.deepEqual([nameOf('b/c/a.TXT'), nameOf('a')], ['a.TXT', 'a']);
    assert.deepEqual(['b/c/a.TXT', 'a', 'b.d/a', 'a.tar.gz', 'a.'].map(endOf), ['txt', '', '', 'gz', '']);
  });
});

describe('a table as text', () => {
  const rows = (text: string, separator = ',') => readCsv(text, separator).rows;

  test('has rows and fields, quoted ones with anything in them', () => {
    assert.deepEqual(rows('a,b\n1,2\n'), [
      ['a', 'b'],
      ['1', '2'],
    ]);
    assert.deepEqual(rows('"a,""b""\nc",d'), [['a,"b"\nc', 'd']]);
    assert.deepEqual(rows('a;b\r\n;2', ';'), [
      ['a', 'b'],
      ['', '2'],
    ]);
    assert.deepEqual(rows('a\n\n\nb'), [['a'], ['b']]);
    assert.deepEqual(rows(''), []);
  });

  test('that never closes a quote ends with the text', () => assert.deepEqual(rows('"a,b\nc'), [['a,b\nc']]));

  test('is cut where a page could not hold it', () => {
    const long = readCsv('x\n'.repeat(5000), ',');
    assert.deepEqual([long.rows.length, long.cut], [1000, true]);
    assert.equal(rows(','.repeat(2000))[0]?.length, 60);
    assert.equal(readCsv('x\n'.repeat(1000), ',').cut, false);
  });
});

test('an agent’s timeline: conversations by their last step and the log, the newest first, within bounds', () => {
  const session = (id: string, updatedAt: string) => ({ id, updatedAt }) as SessionHead;
  const entry = (id: string, timestamp: string) => ({ id, timestamp }) as unknown as Entry;
  assert.deepEqual(
    timelineOf(
      [session('a', '2026-01-04T00:00:00.000Z'), session('b', '2026-01-01T00:00:00.000Z')],
      [entry('1', '2026-01-03T00:00:00.000Z'), entry('2', '2026-01-02T23:59:59.999Z')],
    ).map(({ key }) => key),
    ['conversation-a', 'log-1', 'log-2', 'conversation-b'],
  );
  const many = Array.from({ length: MOST_EVENTS + 5 }, (_, index) => entry(`${index}`, '2026-01-01T00:00:00.000Z'));
  assert.equal(timelineOf([], many).length, MOST_EVENTS);
});

test('tags are what is between commas, each once', () => {
  assert.deepEqual(tagsIn(' a, b ,,A,c '), ['A', 'b', 'c']);
  assert.deepEqual(tagsIn(' , '), []);
  assert.deepEqual(withTag(['a', 'b'], ' c'), ['a', 'b', 'c']);
});

test('earlier addresses of an agent’s page lead to what they meant', () => {
  assert.deepEqual(tabOf({}), { tab: 'chat', part: undefined });
  assert.deepEqual(tabOf({ tab: 'logs' }), { tab: 'work', part: 'log' });
  assert.deepEqual(tabOf({ tab: 'backups', part: 'x' }), { tab: 'settings', part: 'backups' });
  assert.deepEqual(tabOf({ tab: 'work', part: 'cost' }), { tab: 'work', part: 'cost' });
  assert.deepEqual(tabOf({ tab: '__proto__' }), { tab: '__proto__', part: undefined });
});

test('a conversation is called by its title, one of another agent by what it is about', () => {
  assert.equal(titleOf(' Tour plan '), 'Tour plan');
  assert.equal(titleOf(undefined), 'New conversation');
  const told = 'Message from the agent 7703-ab, action BOOKING_COUNTER:\n{"bookingId":"3c';
  assert.equal(titleOf(told), 'Booking: counter-offer');
  assert.equal(titleOf('Message from the agent x, action NO_SUCH_THING'), 'Other agent');
});

describe('an MCP server', () => {
  test('is a service or a command, as the contract takes them', () => {
    const service = serverBody({
      ...NO_SERVER,
      address: ' https://a.example/mcp ',
      secrets: 'Authorization: Bearer x:y=z',
    });
    assert.deepEqual(service, { url: 'https://a.example/mcp', headers: { Authorization: 'Bearer x:y=z' } });
    const command = serverBody({ ...NO_SERVER, address: 'npx  -y server', secrets: 'KEY=1\n\nnonsense\nB = 2' });
    assert.deepEqual(command, { command: 'npx', args: ['-y', 'server'], env: { KEY: '1', B: '2' } });
    for (const body of [service, command]) check(web.connections.attach, { params: { id: 'a', name: 'x' }, body });
  });

  test('is told by its address', () => {
    assert.ok(isService('HTTPS://a') && isService(' http://a'));
    assert.ok(!isService('ftp://a') && !isService('npx https://a') && !isService(''));
  });

  test('secrets are names and values, whatever they are called', () => {
    assert.deepEqual(Object.entries(pairs('__proto__: x')), [['__proto__', 'x']]);
    assert.deepEqual(pairs('-'.repeat(2000)), {});
    assert.deepEqual(pairs('A:'), { A: '' });
    assert.deepEqual(pairs(': x'), {});
  });
});

describe('models', () => {
  const model = (id: string, name: string, description = '') => ({ id, name, description });
  const models = [model('a/opus', 'Opus', 'large'), model('b/flash', 'Flash', 'small and fast'), model('c/ü', 'Über')];
  const found = (search: string) => findModels(models, search).map(({ name }) => name);

  test('are found by all words, wherever they stand', () => {
    assert.deepEqual(found('FAST b/'), ['Flash']);
    assert.deepEqual(found('ÜBER'), ['Über']);
    assert.deepEqual(found(''), ['Opus', 'Flash', 'Über']);
    assert.deepEqual(found('opus flash'), []);
    assert.deepEqual(found('.*'.repeat(1000)), []);
  });

  test('are not all shown', () => {
    assert.equal(
      findModels(
        Array.from({ length: 500 }, (_, index) => model(`m${index}`, 'M')),
        'm',
      ).length,
      MOST_MODELS,
    );
  });
});

test('a bar of a run stands within it, and can be seen', () => {
  const run = { start: 1000, end: 2000 };
  assert.deepEqual(placeOf({ start: 1000, end: 2000 }, run), { left: 0, width: 100 });
  assert.deepEqual(placeOf({ start: 1500, end: 1750 }, run), { left: 50, width: 25 });
  for (const bar of [
    { start: 2000, end: 2000 },
    { start: 0, end: 9000 },
    { start: 1990, end: 5000 },
  ]) {
    const { left, width } = placeOf(bar, run);
    assert.ok(left >= 0 && width >= 0.6 && left + width <= 100.001, JSON.stringify({ bar, left, width }));
  }
  const none = placeOf({ start: 5, end: 5 }, { start: 5, end: 5 });
  assert.ok(Number.isFinite(none.left) && Number.isFinite(none.width));
});

describe('a task', () => {
  test('begins with the first agent and the zone of here; the contract wants the rest', () => {
    const draft = draftOf(undefined, 'agent-1', 'Asia/Kolkata');
    assert.deepEqual([draft.agentId, draft.timezone, draft.enabled], ['agent-1', 'Asia/Kolkata', true]);
    assert.throws(() => check(web.tasks.create, { body: draft }), /Missing required fields/);
    check(web.tasks.create, { body: { ...draft, name: 'Report', prompt: 'Say hello' } });
  });

  test('that is there is shown as it is, what it left empty too', () => {
    const task = {
      name: 'n',
      description: null,
      agentId: 'a',
      prompt: 'p',
      cronSchedule: '* * * * *',
      timezone: 'UTC',
      enabled: false,
    };
    const draft = draftOf(task as unknown as ScheduledTask, 'other', 'Asia/Kolkata');
    assert.deepEqual([draft.agentId, draft.timezone, draft.enabled, draft.description], ['a', 'UTC', false, '']);
  });

  test('offers its own zone once, and first', () => {
    assert.deepEqual(zonesFor('Europe/Kyiv', ['Europe/Kiev', 'UTC']), ['Europe/Kyiv', 'UTC', 'Europe/Kiev']);
    assert.deepEqual(zonesFor('UTC', ['UTC']), ['UTC']);
  });
});

describe('a team', () => {
  const team = (agents: [string, string[]][]) =>
    ({ agents: agents.map(([name, subAgents]) => ({ name, role: name.toUpperCase(), subAgents })) }) as unknown as Team;
  const rows = (given: Team) => {
    const levels = Map.groupBy(place(given).nodes, ({ y }) => y);
    return [...levels.values()].map((row) => row.map(({ name }) => name));
  };

  test('is drawn from its lead on, each once, also when they lead in a circle', () => {
    assert.deepEqual(
      rows(
        team([
          ['a', ['b', 'c']],
          ['b', ['a', 'c']],
          ['c', ['c']],
        ]),
      ),
      [['a'], ['b', 'c']],
    );
  });

  test('shows whom nobody leads to, at the end', () => {
    assert.deepEqual(
      rows(
        team([
          ['a', ['b']],
          ['b', []],
          ['lost', []],
        ]),
      ),
      [['a'], ['b'], ['lost']],
    );
  });

  test('has rows of four, and all of it within the picture', () => {
    const names = Array.from({ length: 9 }, (_, index) => `m${index}`);
    const given = team([['lead', names], ...names.map((name): [string, string[]] => [name, []])]);
    assert.deepEqual(
      rows(given).map((row) => row.length),
      [1, 4, 4, 1],
    );
    const { nodes, width, height } = place(given);
    for (const { x, y } of nodes) assert.ok(x >= 0 && x + 148 <= width && y >= 0 && y + 46 <= height);
  });

  test('of nobody is a picture of nothing', () => {
    const { nodes, width, height } = place(team([]));
    assert.deepEqual([nodes, height], [[], 0]);
    assert.ok(width > 0);
  });

  test('long names are cut', () => {
    assert.equal(cut('abcdef', 4), 'abc…');
    assert.equal(cut('abcd', 4), 'abcd');
  });
});

describe('a team at work', () => {
  const member = (name: string) => ({ agentId: name, name });
  const step = (seq: number, type: string, more: object = {}) =>
    ({ seq, type, at: `2026-11-16T12:00:${String(seq).padStart(2, '0')}Z`, ...more }) as unknown as SessionStep;

  test('is told in the order in which it happened', () => {
    const all = linesOf([
      { member: member('a'), steps: [step(1, 'user', { content: 'Go' }), step(4, 'assistant', { content: 'Done' })] },
      {
        member: member('b'),
        steps: [step(2, 'user', { content: 'Help' }), step(3, 'run_ended', { outcome: 'failed' })],
      },
    ]);
    assert.deepEqual(
      all.map(({ member: { name }, text }) => `${name} ${text}`),
      ['a Go', 'b Help', 'b failed', 'a Done'],
    );
  });

  test('a task that is handed over is told with whom and what', () => {
    const toolCalls = [{ callId: 'c', tool: 'transfer_task', args: '{"agent": "b", "task": "Look"}' }];
    const [line] = linesOf([{ member: member('a'), steps: [step(1, 'assistant', { toolCalls })] }]);
    assert.match(line?.what ?? '', /b/);
    assert.equal(line?.text, 'Look');
  });

  test('arguments that a model broke are texts all the same', () => {
    for (const args of ['null', '[]', '{"task": {"a": 1}, "agent": 7}', '{"half', '']) {
      const toolCalls = [{ callId: 'c', tool: 'transfer_task', args }];
      const [line] = linesOf([{ member: member('a'), steps: [step(1, 'assistant', { toolCalls })] }]);
      assert.deepEqual([typeof line?.what, typeof line?.text], ['string', 'string'], args);
    }
  });

  test('only the newest of it is shown, a run that ended well not at all', () => {
    const steps = Array.from({ length: 50 }, (_, index) => step(index + 1, 'user', { content: String(index) }));
    const all = linesOf([{ member: member('a'), steps: [...steps, step(51, 'run_ended', { outcome: 'done' })] }]);
    assert.deepEqual([all.length, all.at(-1)?.text], [40, '49']);
  });
});
