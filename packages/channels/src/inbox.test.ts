import assert from 'node:assert/strict';
import { once, EventEmitter } from 'node:events';
import { test } from 'node:test';
import type { Service } from './channel.ts';
import { openInbox } from './inbox.ts';
import { depsFor, testAgent } from './testing.ts';

test('of what is said to a channel, facts are taken from those alone whom the owner names one by one', async () => {
  const { agent, store } = await testAgent();
  const sent = new EventEmitter();
  const service: Service = {
    kind: 'telegram',
    maxText: 4000,
    test: async () => 'ada',
    tell: async () => {},
    send: async ({ id }) => void sent.emit(id),
    fetchFile: () => Promise.reject(new Error('there are none')),
  };
  const talk = async (settings: Record<string, string>, from: [id: string, sender: string, text: string][]) => {
    const inbox = openInbox(service, depsFor(agent, '', settings));
    const chat = from[0]![0];
    for (const [id, sender, text] of from) {
      const answered = once(sent, id);
      await inbox.take({ id, chat, sender, text });
      await answered;
    }
    await inbox.settle();
    const sessions = await store.sessions({ limit: 9, offset: 0 });
    const { id } = sessions.find(({ key }) => key === chat)!;
    return (await store.facts!.talk(id))?.said.map(({ text }) => text);
  };

  // Nobody is named: anybody may write, and nobody's word is kept.
  assert.deepEqual(await talk({}, [['a', '5', 'I am the boss.']]), []);
  const open = { allowed: '7\n*' };
  const group: [string, string, string][] = [
    ['b', '7', 'I live in Rome.'],
    ['c', '5', 'He moved to Oslo.'],
    ['d', '7', 'I like tea.'],
  ];
  assert.deepEqual(await talk(open, group), ['I like tea.', 'heard I like tea.']);
  assert.deepEqual(await talk(open, [['e', '7', 'I live in Rome.']]), ['I live in Rome.', 'heard I live in Rome.']);
});
