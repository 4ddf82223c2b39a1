import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandOffers, nameOffers, taken, triggerAt } from './commands.ts';

const at = (text: string, caret = text.length) => triggerAt(text, caret);

test('a slash counts at the beginning alone, an at sign at the beginning of any word', () => {
  assert.deepEqual(at('/'), { sign: '/', typed: '', from: 0 });
  assert.deepEqual(at('/mod'), { sign: '/', typed: 'mod', from: 0 });
  assert.deepEqual(at('/mod is a folder', 4), { sign: '/', typed: 'mod', from: 0 });
  for (const text of ['', 'either/or', 'a /new', '/usr/bin', '/new one', ' /new'])
    assert.equal(at(text), undefined, text);
  assert.deepEqual(at('Read @rep'), { sign: '@', typed: 'rep', from: 5 });
  assert.deepEqual(at('@reports/to'), { sign: '@', typed: 'reports/to', from: 0 });
  for (const text of ['ann@example.com', '@Bo ', 'a@', '@@']) assert.equal(at(text), undefined, text);
});

test('what is chosen takes the place of what was typed, and nothing else', () => {
  const text = 'Read @rep now';
  const trigger = triggerAt(text, 9)!;
  assert.deepEqual(taken(text, 9, trigger, 'reports/tour.md'), { text: 'Read reports/tour.md now', caret: 20 });
  assert.deepEqual(taken('@rep', 4, triggerAt('@rep', 4)!, '@reports/'), { text: '@reports/', caret: 9 });
  assert.deepEqual(taken('@B', 2, triggerAt('@B', 2)!, '@Bo'), { text: '@Bo ', caret: 4 });
  assert.deepEqual(taken('/ne', 3, triggerAt('/ne', 3)!, ''), { text: '', caret: 0 });
});

test('commands are found by name, those that begin so first; the agent’s own are only written', () => {
  const act = () => undefined;
  const commands = ['new', 'renew', 'stop'].map((name) => ({ name, words: `${name}!`, act }));
  const labels = (typed: string) => commandOffers(typed, commands, [{ name: 'news' }]).map(({ label }) => label);
  assert.deepEqual(labels(''), ['/new', '/renew', '/stop', '/news']);
  assert.deepEqual(labels('NEW'), ['/new', '/news', '/renew']);
  assert.deepEqual(labels('x'), []);
  const [own] = commandOffers('news', commands, [{ name: 'news', description: 'What is new' }]);
  assert.deepEqual(own, { key: 'own-news', label: '/news', hint: 'What is new', insert: '/news' });
  const [done] = commandOffers('stop', commands, []);
  assert.deepEqual([done!.insert, done!.act === act], ['', true]);
});

test('agents and files are found by name; a folder is gone into', () => {
  const hints = { agent: 'agent', file: 'file', folder: 'folder' };
  const agents = [
    { id: '1', name: 'Bo' },
    { id: '2', name: 'Ada' },
  ];
  const entries = [
    { name: 'about.md', kind: 'file' },
    { name: 'books', kind: 'folder' },
  ];
  const inserts = (typed: string) => nameOffers(typed, agents, entries, hints).map(({ insert }) => insert);
  assert.deepEqual(inserts('bo'), ['@Bo', '@books/', 'about.md']);
  // Below a folder there are no agents.
  assert.deepEqual(inserts('drafts/ab'), ['drafts/about.md']);
  const many = Array.from({ length: 50 }, (_, n) => ({ id: String(n), name: `Agent ${n}` }));
  assert.equal(nameOffers('', many, entries, hints).length, 6);
});
