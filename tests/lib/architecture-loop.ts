import { isRoom, isTest, withoutComments, type Rule } from './architecture.ts';

/** What may take as long as its input likes, or stops everybody meanwhile: it runs in a thread of the pool, or not at all. */
const NOT_ON_THE_LOOP: Readonly<Record<string, RegExp>> = {
  'a glob': /\bmatchesGlob\(/,
  'a regular expression that is put together': /\bRegExp\((?!['"/])/,
  'a JSON schema that is compiled': /from 'ajv|\bfromJSONSchema\(|AjvJsonSchemaValidator/,
  'YAML that is read': /\b(?:parseDocument|parseAllDocuments)\(|import \{[^}]*\bparse\b[^}]*\} from 'yaml'/,
  'a folder that is read with all below it': /\b(?:readdir|opendir)(?:Sync)?\([^;]*recursive: true/,
  'a folder that is read at once': /\b(?:readdirSync|opendirSync)\(/,
  'compressing at once': /\b(?:gzip|gunzip|deflate|inflate|brotliCompress|brotliDecompress)(?:Raw)?Sync\(/,
  'a program that is waited for': /\b(?:exec|execFile|spawn)Sync\(/,
};

/** Where it may all the same, each with its reason. */
export const ON_THE_LOOP: Readonly<Record<string, string>> = {
  'packages/agent/src/store/search-words.ts': 'one expression from constants, made once at load',
  'packages/knowledge/src/words/unspaced.ts': 'one expression from constants, made once at load',
  'packages/knowledge/src/words/dates.ts': 'three expressions from constants, made once at load',
  'packages/knowledge/src/extract/read.ts': 'called by the tasks extract.task.ts only',
  'apps/web/src/platform/dashboard.ts': 'the files of our own dashboard, once at the start',
  'packages/channels/src/discord.ts': 'the id that Discord gave our own account, letters and digits',
  'packages/contract/src/errors.ts': 'expressions from the contract’s own texts, outside production only',
  'packages/contract/src/email.ts': 'one expression from constants, made once at load',
  'packages/domain/src/say/when.ts':
    'expressions from constants, made once at load; sentences of 2,000 letters at most',
  'packages/domain/src/teams/team-yaml.ts':
    'services call it through readTeamOf, in a thread; the dashboard in its own tab',
  'packages/domain/src/imports/docs-of.ts': 'services call it through readImportOf, in a thread',
  'packages/domain/src/imports/parts.ts': 'services call it through readImportOf, in a thread',
  'packages/domain/src/skills/skill-md.ts': 'services call it through readSkillOf, in a thread',
  'packages/kernel/src/skills/scan.ts': 'called by read.task.ts only; an expression from constants',
  'packages/kernel/src/skills/unpack.ts': 'called by read.task.ts only',
  'packages/agent/src/workspace/workspace-files.ts': 'what blocks in it is called by tasks only',
  'packages/agent/src/sandbox/control-group.ts': 'our own folders of control groups; expressions from constants',
  'packages/agent/src/sandbox/resource-watch.ts': 'expressions from constants, over a page that the kernel writes',
  'packages/db/src/embedded.ts': 'one short program before the database starts',
};

const isTask = (file: string): boolean => file.endsWith('.task.ts');

/** Nothing that a user, a model or another server supplies is computed on the loop that serves others. */
export const loopStaysFree: Rule = (sources) =>
  sources
    .filter(({ path: file }) => isRoom(file) && !isTest(file) && !isTask(file) && ON_THE_LOOP[file] === undefined)
    .filter(({ path: file }) => !/\/(testing[^/]*|fixtures\/.*|[^/]*-program|vite\.config)\.ts$|\/scripts\//.test(file))
    .flatMap(({ path: file, text }) =>
      Object.entries(NOT_ON_THE_LOOP)
        .filter(([, sign]) => sign.test(withoutComments(text)))
        .map(([what]) => `${file} has ${what}: do it in a task of the worker pool`),
    );
