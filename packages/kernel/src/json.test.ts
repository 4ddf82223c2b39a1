import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { countedAddress } from './addresses.ts';
import { headerText, headerValue } from './http/header-text.ts';
import { parseJson } from './json.ts';

const refused = (text: string): string => {
  try {
    parseJson(text);
    return 'accepted';
  } catch (error) {
    return (error as Error).message;
  }
};

const nested = (levels: number, open = '[', close = ']', inner = '') =>
  open.repeat(levels) + inner + close.repeat(levels);

test('64 levels are read, 65 are not; brackets in texts are no levels', () => {
  assert.equal(refused(nested(64)), 'accepted');
  assert.match(refused(nested(65)), /nested deeper than 64 levels/);
  assert.match(refused(nested(65, '{"a":', '}', '1')), /nested deeper/);
  assert.match(refused(nested(500_000)), /nested deeper/);
  assert.equal(refused(JSON.stringify([nested(200), `\\"${nested(200)}`, '\\', nested(100)])), 'accepted');
  assert.equal(refused(JSON.stringify(Array.from({ length: 5000 }, () => [{}]))), 'accepted');
});

test('50,000 lists, objects and fields are read, one more is not; those in texts are none', () => {
  assert.equal(refused(`[${'[],'.repeat(49_998)}{}]`), 'accepted');
  assert.match(refused(`[${'[],'.repeat(49_999)}{}]`), /more than 50000 lists, objects and fields/);
  const fields = (count: number) => `{${Array.from({ length: count }, (_, n) => `"${n}" : 0`).join()}}`;
  assert.equal(refused(fields(49_999)), 'accepted');
  assert.match(refused(fields(50_000)), /more than 50000/);
  assert.equal(refused(JSON.stringify(['{"a":[]}'.repeat(60_000)])), 'accepted');
});

test('half characters and zeros are refused in texts and in keys, whole ones are not', () => {
  for (const bad of ['"\\ud800"', '{"a\\udc00":1}', '[["\\ud83d\\ud83d\\ude00"]]'])
    assert.match(refused(bad), /valid Unicode/);
  for (const bad of ['"a\\u0000"', '{"\\u0000":1}', '[{"a":["\\u0000"]}]'])
    assert.equal(refused(bad), 'Null characters are not allowed');
  for (const good of ['"\\ud83d\\ude00"', '"\\\\u0000"', '"\\\\ud800"', '"😀"'])
    assert.equal(refused(good), 'accepted');
});

test('what could reach a prototype is no JSON of ours', () => {
  for (const bad of ['{"__proto__":{}}', '{"\\u005f_proto__":{}}', '[{"constructor":{"prototype":{}}}]'])
    assert.equal(refused(bad), 'Invalid JSON');
  assert.equal(refused('{"constructor":"Ferrari"}'), 'accepted');
});

test('any value that is well formed comes through as JSON.parse reads it', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 20 }), (text) => {
      const value: unknown = JSON.parse(text);
      const fine = !/\\u0000|__proto__|constructor|\\ud[89a-f]/i.test(text);
      if (fine) assert.deepEqual(parseJson(text), value);
    }),
  );
});

test('a body of 1 MB costs little more than reading it', () => {
  const text = JSON.stringify(Array.from({ length: 10_000 }, (_, at) => ({ at, text: 'x'.repeat(80) })));
  const time = (work: () => unknown): number => {
    const took = Array.from({ length: 9 }, () => {
      const began = performance.now();
      work();
      return performance.now() - began;
    });
    return took.toSorted((a, b) => a - b)[0]!;
  };
  const plain = time(() => JSON.parse(text));
  assert.ok(time(() => parseJson(text)) < plain * 4 + 5);
});

test('an IPv6 network of 64 bits is one address, an IPv4 address over IPv6 is itself, a port is none of it', () => {
  const cases: [string, string][] = [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:201', '192.0.2.1'],
    ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002:ffff:0:0:1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['192.0.2.1:50123', '192.0.2.1'],
    ['[2001:db8:1:2::1]:50123', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::1]', '2001:db8:1:2::/64'],
    ['[::ffff:192.0.2.1]:1', '192.0.2.1'],
    ['agent:4711', 'agent:4711'],
    ['', ''],
  ];
  for (const [given, counted] of cases) assert.equal(countedAddress(given), counted, given);
});

test('any text passes in a header and is the same on the other side; plain ones are not touched', () => {
  assert.equal(headerValue("o'hara+x@example.com"), "o'hara+x@example.com");
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), (text) => {
      const value = headerValue(text);
      assert.match(value, /^[\x20-\x7E]*$/);
      const wellFormed = text.isWellFormed() && !text.includes('\0');
      if (wellFormed) assert.equal(headerText(value), text);
    }),
  );
  for (const bad of ['utf-8:%', 'utf-8:', 'utf-8:%00', 'utf-8:%ED%A0%80']) assert.equal(headerText(bad), undefined);
});
