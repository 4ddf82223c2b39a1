import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMON_ERRORS, endpoint } from '@troupe/contract';
import { RATE_RULES } from '@troupe/domain';
import { AppError } from '../errors.ts';
import { respond } from './reply.ts';
import { serve } from './serve.ts';
import { testServer } from '@troupe/testing/http/server';

const base = { service: 'web', summary: 'A test', tag: 'Test' } as const;

test('an error that the contract does not declare fails a test, and is passed on to people', async () => {
  const ask = (handler: () => never | ReturnType<typeof respond>, NODE_ENV: string) => {
    const server = testServer({ env: { NODE_ENV } });
    serve(server, endpoint({ ...base, method: 'GET', path: '/x', auth: 'none', errors: { 409: ['No'] } }), handler);
    return server.app.inject('/x');
  };
  const thrown = (status: number, text: string) => () => {
    throw new AppError(status, text, { code: 'SOME' });
  };
  const answered = (status: number, error: string) => () => respond({ status, body: { error, code: 'SOME' } });
  for (const way of [thrown, answered]) {
    const declared = await ask(way(409, 'No'), 'test');
    assert.deepEqual([declared.statusCode, declared.json()], [409, { error: 'No', code: 'SOME' }]);
    for (const [status, text] of [
      [409, 'Not now'],
      [410, 'No'],
    ] as const) {
      const answer = await ask(way(status, text), 'test');
      const error = `GET /x of web answers ${status} with "${text}", which its contract does not declare`;
      assert.deepEqual([answer.statusCode, answer.json()], [500, { error }]);
    }
    for (const environment of ['development', 'production']) {
      const live = await ask(way(410, 'Gone'), environment);
      assert.deepEqual([live.statusCode, live.json()], [410, { error: 'Gone', code: 'SOME' }]);
    }
  }
});

test('what the database cannot do now is a 503 that says when to come again; what it refuses is not', async () => {
  const server = testServer();
  const said = (code: string) => Object.assign(new Error('as PostgreSQL says it'), { code });
  let code = '';
  serve(server, endpoint({ ...base, method: 'GET', path: '/x', auth: 'none' }), () => Promise.reject(said(code)));
  for (code of ['25006', '40001', '40P01', '53100', '53200', '53300', '55P03', '57014', '57P01', '57P02', '57P03']) {
    const answer = await server.app.inject('/x');
    assert.deepEqual([answer.statusCode, answer.headers['retry-after']], [503, '2'], code);
  }
  for (code of ['23505', '42P01', '22003']) assert.equal((await server.app.inject('/x')).statusCode, 500, code);
});

test('what every limit says is declared for all endpoints', () => {
  const said = new Set(COMMON_ERRORS[429]);
  for (const { name, message } of RATE_RULES) assert.ok(said.has(message), `${name}: ${message}`);
});
