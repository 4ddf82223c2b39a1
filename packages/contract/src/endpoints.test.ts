import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allEndpoints } from './endpoints.ts';
import * as contract from './index.ts';

const isEndpoint = (value: unknown): boolean => typeof value === 'object' && value !== null && 'method' in value;

test('every endpoint is there once, and in the group of its service', () => {
  const names = allEndpoints().map(({ service, method, path }) => `${service} ${method} ${path}`);
  assert.equal(new Set(names).size, names.length);
  assert.ok(names.length > 370, String(names.length));
  assert.ok(names.includes('web POST /api/keys'));
  assert.ok(names.includes('backend POST /api/underground/bus/send'));
  for (const [group, service] of [
    [contract.web, 'web'],
    [contract.backend, 'backend'],
    [contract.gateway, 'backend'],
  ] as const)
    for (const [slice, members] of Object.entries<object>(group))
      for (const [verb, one] of Object.entries(members))
        if (isEndpoint(one)) assert.equal(one.service, service, `${slice}.${verb}`);
});

test('no endpoint is exported without a group', () => {
  const flat = Object.entries(contract).filter(([, value]) => isEndpoint(value));
  assert.deepEqual(
    flat.map(([name]) => name),
    [],
  );
});
