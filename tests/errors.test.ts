import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { allEndpoints, COMMON_ERRORS, errorsOf } from '@troupe/contract';
import { readSources } from '@troupe/testing/sources/sources';

/** Tests meet most error answers where they are given; this looks at those that none meets. */

/** Status and text as they stand in the source, with a place for whatever is put in. */
const THROWN = /new AppError\(\s*(\d{3}),\s*(?:'((?:[^'\\]|\\.)*)'|`([^`]*)`)/g;

/** What has no endpoint: the agent's own server, channels, WebSockets, pages, what every server says of itself. */
const ELSEWHERE = [
  /^packages\/agent\//,
  /^packages\/channels\//,
  /^apps\/agent\//,
  /^packages\/kernel\/src\/(http|workers)\//,
  /^apps\/backend\/src\/agents\/runtime\/sockets\.ts$/,
  /^apps\/web\/src\/platform\/dashboard\.ts$/,
];

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** A text of the source as an expression: whatever is put in takes what the contract has there. */
const patternOf = (text: string): RegExp =>
  new RegExp(
    `^${text
      .split(/\$\{[^}]*\}/)
      .map(escaped)
      .join('.+')}$`,
    's',
  );

const declared = new Map<number, string[]>();
for (const texts of [COMMON_ERRORS, ...allEndpoints().map(errorsOf)])
  for (const [status, list] of Object.entries(texts))
    declared.set(Number(status), [...(declared.get(Number(status)) ?? []), ...list]);

function isDeclared(status: number, text: string): boolean {
  const thrown = patternOf(text);
  const filled = text.replaceAll(/\$\{[^}]*\}/g, '7');
  const list = declared.get(status) ?? [];
  return list.some((one) => thrown.test(one) || patternOf(one.replaceAll(/<[a-z ]+>/gi, '${x}')).test(filled));
}

test('every text that a service throws stands in the contract', () => {
  const sources = readSources(path.resolve(import.meta.dirname, '..')).filter(
    ({ path: file }) =>
      /^(apps|packages)\//.test(file) && !/\.test\.tsx?$/.test(file) && !ELSEWHERE.some((place) => place.test(file)),
  );
  let found = 0;
  const missing = sources.flatMap(({ path: file, text }) =>
    [...text.matchAll(THROWN)].flatMap(([, status, plain, template]) => {
      found += 1;
      const said = (plain ?? template ?? '').replaceAll(String.raw`\'`, "'");
      return isDeclared(Number(status), said) ? [] : [`${file}: ${status} ${said}`];
    }),
  );
  assert.ok(found > 200, `only ${found} were found`);
  assert.deepEqual(missing, []);
});

test('a text that is not in the contract is noticed', () => {
  assert.equal(isDeclared(404, 'Agent not found'), true);
  assert.equal(isDeclared(429, 'Too many keys (max ${MOST})'), true);
  assert.equal(isDeclared(404, 'Agent not here'), false);
  assert.equal(isDeclared(418, 'Agent not found'), false);
});
