import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { web } from '@troupe/contract';
import { faceOf } from '@troupe/interop';
import { serve, type Server, type User } from '@troupe/kernel';
import { testServer } from '@troupe/testing/http/server';
import { createEverything } from '@troupe/testing/mcp/everything';
import { conformance } from '@troupe/testing/mcp/judge';
import { needs } from '@troupe/testing/machine/needs';
import { createAnswer } from './answer.ts';
import type { McpCaller } from './service.ts';

/** The public conformance suite, against our way of serving MCP with the tools that it asks for. */

const root = path.resolve(import.meta.dirname, '../../../../..');
const EXPECTED = path.join(root, 'tests/judges/mcp-server-failures');
const nobody = { id: 'nobody', email: '', name: '', isAdmin: false } as User;

let server: Server;
let url: string;
before(async () => {
  server = testServer({ env: { HOST: '127.0.0.1' } });
  const handler = createEverything();
  const answer = createAnswer({ face: async () => faceOf<McpCaller>(handler), tools: [] });
  // The suite shows no key.
  serve(server, { ...web.mcp.call, auth: 'none' }, ({ request }) => answer('POST', nobody, request));
  serve(server, { ...web.mcp.stream, auth: 'none' }, ({ request }) => answer('GET', nobody, request));
  serve(server, { ...web.mcp.end, auth: 'none' }, ({ request }) => answer('DELETE', nobody, request));
  url = `${await server.listen(0, 'WEB_PORT')}/mcp`;
});
after(() => server.close());

describe('the conformance suite', { skip: needs('the MCP judges') }, () => {
  for (const revision of ['2026-07-28', '2025-11-25'])
    test(`passes for ${revision}, but for what is named with its reason`, async () => {
      const args = ['server', '--url', url, '--requirements', revision, '--timeout', '60000'];
      const { code, said } = await conformance([...args, '--expected-failures', `${EXPECTED}-${revision}.yml`]);
      assert.equal(code, 0, said);
    });
});
