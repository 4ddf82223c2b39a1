import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogueLine, isSkillName } from './skill.ts';
import { BUILT_IN_SKILLS } from './built-in.ts';
import { readSkillMd, writeSkillMd } from './skill-md.ts';

const read = (front: string, body = 'Do it.') => readSkillMd(`---\n${front}\n---\n${body}\n`);
const why = (front: string): string => {
  const reading = read(front);
  return reading.ok ? 'fine' : reading.error;
};

test('every key of the format is read', () => {
  const reading = read(
    `name: pdf-forms
description: Fills in forms. Use it for PDFs.
license: Apache-2.0
compatibility: Needs python3
metadata:
  author: somebody
  version: 1.2
allowed-tools: Bash(git add:*) Read, Write`,
    '# How\n\nSteps.',
  );
  assert.deepEqual(reading, {
    ok: true,
    head: {
      name: 'pdf-forms',
      description: 'Fills in forms. Use it for PDFs.',
      license: 'Apache-2.0',
      compatibility: 'Needs python3',
      metadata: { author: 'somebody', version: '1.2' },
      allowedTools: ['Bash(git add:*)', 'Read', 'Write'],
    },
    body: '# How\n\nSteps.',
    warnings: [],
  });
});

test('small slips are mended and told', () => {
  const reading = read('name: a\ndescription: Use it when: somebody asks\nallowed-tools: [Read]\nmodel: x');
  assert.ok(reading.ok);
  assert.equal(reading.head.description, 'Use it when: somebody asks');
  assert.deepEqual(reading.head.allowedTools, ['Read']);
  assert.equal(reading.warnings.length, 2);
  assert.ok(readSkillMd('\uFEFF---\r\nname: a\r\ndescription: b\r\n---\r\nText').ok, 'as Windows writes it');
});

test('what cannot be mended is refused with a reason', () => {
  const cases: readonly [front: string, says: RegExp][] = [
    ['description: b', /name is missing/],
    ['name: a', /description must be a text/],
    ['name: a\ndescription: "  "', /description must not be empty/],
    [`name: a\ndescription: ${'x'.repeat(1025)}`, /more than 1024 characters/],
    [`name: a\ndescription: b\ncompatibility: ${'x'.repeat(501)}`, /more than 500/],
    ['name: My Skill\ndescription: b', /name must be 1 to 64/],
    ['name: a--b\ndescription: b', /name must be/],
    ['name: -a\ndescription: b', /name must be/],
    ['name: ../a\ndescription: b', /name must be/],
    [`name: ${'a'.repeat(65)}\ndescription: b`, /name must be/],
    ['name: a\nname: b\ndescription: c', /stands twice/],
    ['name: a\ndescription: [b', /not valid YAML/],
    ['name: a\ndescription: "\\u0000"', /control characters/],
    ['name: a\ndescription: "\\uD800"', /control characters/],
    ['name: a\ndescription: &x b\nmetadata: {a: *x}', /not valid YAML/],
    ['- a\n- b', /no list of keys and values/],
  ];
  for (const [front, says] of cases) assert.match(why(front), says, front);
  assert.match(JSON.stringify(readSkillMd('# No frontmatter')), /does not begin with a frontmatter/);
  assert.match(JSON.stringify(readSkillMd(`---\nname: a\ndescription: b\n---\n${'x'.repeat(50_000)}`)), /50000/);
});

test('what is written is read back', () => {
  const head = { name: 'a', description: 'b: c # d', license: 'MIT', metadata: { k: 'v' }, allowedTools: ['Read'] };
  const reading = readSkillMd(writeSkillMd(head, 'Body'));
  assert.deepEqual(reading, { ok: true, head, body: 'Body', warnings: [] });
});

test('a licence may be as long as the head that it stands in', () => {
  const license = 'Use it as you like. '.repeat(30).trim();
  const reading = readSkillMd(`---\nname: a\ndescription: b\nlicense: ${license}\n---\nBody`);
  assert.ok(reading.ok && reading.head.license === license && reading.warnings.length === 0, JSON.stringify(reading));
});

test('a line of the prompt has a hundred tokens at most, and no hidden characters', () => {
  assert.equal(catalogueLine({ name: 'a', description: 'One\u200B\n two\u{E0041}.' }), 'One two .');
  const long = catalogueLine({ name: 'a'.repeat(64), description: 'word '.repeat(300).trim() });
  assert.ok(long.length + 64 <= 400 && long.endsWith('word…'), long);
  const far = catalogueLine({ name: 'a', description: '漢'.repeat(1024) });
  assert.ok(far.length <= 100, `${far.length}`);
});

test('names', () => {
  for (const name of ['a', 'a-b-c', '1', 'x9-y']) assert.ok(isSkillName(name), name);
  for (const name of ['', 'A', 'a_b', 'a-', '-a', 'a--b', 'ä', 'a/b', 'a\n']) assert.ok(!isSkillName(name), name);
});

test('what comes with the platform is a skill, and says in a line what it is for', () => {
  assert.equal(new Set(BUILT_IN_SKILLS.map(({ name }) => name)).size, BUILT_IN_SKILLS.length);
  for (const { name, description, body } of BUILT_IN_SKILLS) {
    const reading = readSkillMd(writeSkillMd({ name, description, metadata: {}, allowedTools: [] }, body));
    assert.ok(reading.ok && reading.warnings.length === 0, name);
    assert.equal(catalogueLine({ name, description }), description, `${name} is cut`);
    assert.ok(body.length < 4000, name);
  }
});
