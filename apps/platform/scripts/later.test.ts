import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { allEndpoints, openApi } from '@troupe/contract';
import { putTogether } from '@troupe/testing/processes/together';
import { chooseLater } from './later/choose.ts';
import { edit } from './later/edit.ts';
import { readFile } from './later/file.ts';

const PROGRAM = fileURLToPath(new URL('./later-program.ts', import.meta.url));

/** The files of a package as they are put together, without what is the same before each. */
function edited(sources: Record<string, string>): Record<string, string> {
  const files = new Map(
    Object.entries(sources).map(([name, code]) => {
      const file = `/package/${name}`;
      return [file, readFile(file, `import { z } from 'zod';\n${code}`)];
    }),
  );
  const chosen = chooseLater(files, ['/package/index.ts']);
  return Object.fromEntries(
    Object.keys(sources).map((name) => [
      name,
      edit(files.get(`/package/${name}`)!, chosen)
        .split('\n')
        .slice(1)
        .join('\n'),
    ]),
  );
}

const one = (code: string): string => edited({ 'one.ts': code })['one.ts']!;

describe('a constant that is a schema', () => {
  test('is made when it is used', () => {
    assert.equal(
      one('const id = z.string();\nconst both: Both = z.object({ id, other: id.optional() }) satisfies Both;'),
      'const id = __later(() => (z.string()));\n' +
        'const both: Both = __later(() => (z.object({ id: id(), other: id().optional() }) satisfies Both));',
    );
  });

  test('also where a function makes it, or it holds one', () => {
    assert.equal(
      one(
        'const short = (max: number) => z.string().max(max);\nconst fields = { name: short(3) };\nuse({ ...fields });',
      ),
      'const short = (max: number) => z.string().max(max);\n' +
        'const fields = __later(() => ({ name: short(3) }));\nuse({ ...fields() });',
    );
  });

  test('texts and numbers are as they were', () => {
    const code = "const MOST = 3;\nconst TEXT = `at most ${MOST}`;\nexport const KINDS = ['a', TEXT] as const;";
    assert.equal(one(code), code);
  });

  test('types of it are not touched', () => {
    assert.equal(
      one('const id = z.string();\nexport type Id = z.output<typeof id>;\nconst read = (x: typeof id) => x;'),
      'const id = __later(() => (z.string()));\nexport type Id = z.output<typeof id>;\nconst read = (x: typeof id) => x;',
    );
  });

  for (const [how, code] of [
    ['a parameter', 'const read = (id: string) => id;'],
    ['a parameter that is taken apart', 'const read = ({ a: [id] }: A) => id;'],
    ['a variable of a function', 'function read() {\n  const id = 1;\n  return id;\n}'],
    ['what is caught', 'function read() {\n  try {\n    go();\n  } catch (id) {\n    throw id;\n  }\n}'],
  ] as const)
    test(`is made at once where ${how} has its name`, () => {
      const whole = `const id = z.string();\n${code}\nuse(id);`;
      assert.equal(one(whole), whole);
    });
});

describe('between files', () => {
  test('who imports it calls it, under his own name for it', () => {
    const { 'a.ts': a, 'b.ts': b } = edited({
      'a.ts': 'export const id = z.string();',
      'b.ts': "import { id as key } from './a.ts';\nuse(key, { id: 1 }, it.key);",
    });
    assert.equal(a, 'export const id = __later(() => (z.string()));');
    assert.equal(b, "import { id as key } from './a.ts';\nuse(key(), { id: 1 }, it.key);");
  });

  for (const passing of [
    "export * from './a.ts';",
    "export * as a from './a.ts';",
    "export { id } from './a.ts';",
    "import * as a from './a.ts';",
  ])
    test(`it is made at once with ${passing}`, () => {
      const { 'a.ts': a } = edited({ 'a.ts': 'export const id = z.string();', 'index.ts': passing });
      assert.equal(a, 'export const id = z.string();');
    });

  test('it is made at once in an entry, and where it is imported on the way', () => {
    const code = 'export const id = z.string();';
    assert.equal(edited({ 'index.ts': code })['index.ts'], code);
    const onTheWay = "const read = async () => (await import('./a.ts')).id;";
    assert.equal(edited({ 'a.ts': code, 'b.ts': onTheWay })['a.ts'], code);
  });

  test('what only its file knows is made later all the same', () => {
    const { 'a.ts': a } = edited({
      'a.ts': 'const id = z.string();\nexport const both = z.object({ id });',
      'index.ts': "export * from './a.ts';",
    });
    assert.equal(a, 'const id = __later(() => (z.string()));\nexport const both = z.object({ id: id() });');
  });
});

test('fields of an endpoint are made when they are asked for, and once', () => {
  const { 'a.ts': a } = edited({
    'a.ts':
      'const id = z.string();\nconst body = z.object({});\n' +
      'export const get = endpoint({ ...base, body, reply: z.array(id), status: 201 });',
    'index.ts': "export * as a from './a.ts';",
  });
  assert.equal(
    a,
    'const id = __later(() => (z.string()));\nconst body = __later(() => (z.object({})));\n' +
      'export const get = endpoint({ ...base, get body() { return body(); }, ' +
      'get reply() { return __kept(this, "reply", z.array(id())); }, status: 201 });',
  );
});

describe('the contract, put together', () => {
  let told: { madeByLoading: number; made: number; loaded: string[]; documents: string[] };
  before(async () => {
    const { file, remove } = await putTogether(PROGRAM);
    try {
      const { stdout } = await promisify(execFile)(process.execPath, [file], { maxBuffer: 2 ** 26 });
      told = JSON.parse(stdout) as typeof told;
    } finally {
      await remove();
    }
  });

  test('says of each endpoint what its source says', () => {
    const documents = allEndpoints().map((given) =>
      JSON.stringify(openApi([given], { title: '', version: '', url: '' })),
    );
    assert.deepEqual(told.documents, documents);
  });

  test('has made few of its schemas before', () => {
    assert.ok(told.made > 5000, `${told.made} in all`);
    assert.ok(told.madeByLoading < told.made / 5, `${told.madeByLoading} of ${told.made}`);
  });

  test('loads neither undici nor HTTP/2 with the kernel', () => assert.deepEqual(told.loaded, []));
});
