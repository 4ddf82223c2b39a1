// A server that an agent's command visited could end the platform's process with the status line `HTTP/1.1 000 OK`.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { testDatabase } from '@troupe/testing/database/server';
import { runInClosedNetwork } from '@troupe/testing/machine/closed-network';
import { needs } from '@troupe/testing/machine/needs';

const INSIDE = path.join(import.meta.dirname, 'status-000-ends-the-platform.inside.ts');

test(
  'whatever a visited server answers, the platform goes on and the command is told',
  { skip: needs('bubblewrap', 'network namespaces'), timeout: 120_000 },
  async () => {
    const database = await testDatabase();
    try {
      const { code, output } = await runInClosedNetwork(INSIDE, { DATABASE_URL: database.url });
      assert.equal(code, 0, output);
      assert.match(output, /pass [1-9]/, output);
    } finally {
      await database.drop();
    }
  },
);
