import assert from 'node:assert/strict';
import { test } from 'node:test';
import { latelyOf } from './lately.ts';

const at = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();

test('a channel says when somebody wrote last, or since when it listens', () => {
  const telegram = { kind: 'telegram', isSet: true, state: 'listening', at: at(90) } as const;
  const receipts = [
    { channel: 'slack', receivedAt: at(1) },
    { channel: 'telegram', receivedAt: at(2) },
    { channel: 'telegram', receivedAt: at(60) },
  ];
  assert.equal(latelyOf(telegram, receipts), 'last message 2 minutes ago');
  assert.match(latelyOf(telegram, []), /^since \d/);
  assert.equal(latelyOf({ ...telegram, state: 'failed', at: at(5) }, []), 'last tried 5 minutes ago');
  assert.equal(latelyOf({ ...telegram, state: 'starting', at: null }, []), '');
  assert.equal(latelyOf({ ...telegram, isSet: false }, receipts), '');
});
