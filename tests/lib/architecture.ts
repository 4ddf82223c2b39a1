import path from 'node:path';
import { importsOf, type Import, type Source } from '@troupe/testing/sources/sources';

/** The rules of the house about who may import whom, as functions over sources, so that a test can feed them bad ones. */

export type Rule = (sources: readonly Source[]) => string[];

/** Packages from the bottom up. A package imports only from rows above its own, and from those named beside it. */
const LAYERS: readonly (readonly string[])[] = [
  ['domain', 'client'],
  ['contract'],
  ['interop'],
  ['kernel'],
  ['db'],
  ['accounts', 'ledger', 'usage', 'chain', 'ai', 'knowledge'],
  ['roster'],
  ['agent'],
  ['channels', 'fleet'],
];
const PACKAGES = LAYERS.flat();
const APPS = ['web', 'backend', 'summarizer', 'agent', 'dashboard', 'platform', 'cli'];
export const ROOMS = [
  ...PACKAGES.map((name) => `packages/${name}`),
  ...APPS.map((name) => `apps/${name}`),
  'packages/testing',
];

const below = (name: string): string[] =>
  LAYERS.slice(
    0,
    LAYERS.findIndex((row) => row.includes(name)),
  ).flat();

/** The packages and apps that each room may import, by the name under `@troupe/`. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(PACKAGES.map((name) => [`packages/${name}`, below(name)])),
  ...Object.fromEntries(APPS.map((name) => [`apps/${name}`, PACKAGES])),
  // Web has the rows of agents; what runs them is the backend's.
  'apps/web': PACKAGES.filter((name) => !['agent', 'channels', 'fleet'].includes(name)),
  'apps/dashboard': ['contract', 'domain'],
  // Whoever has the client has all that it can do.
  'apps/cli': ['client'],
  'apps/summarizer': ['contract', 'domain', 'kernel'],
  'apps/platform': [...PACKAGES, 'web', 'backend', 'summarizer'],
  'packages/testing': [...PACKAGES, ...APPS],
};

/** What tests share. It may use everything, and only what tests and measures may use it. */
const TESTING = 'packages/testing';

const MAX_LINES = 400;

/** Files that may be longer, each with its reason. */
export const LONG_FILES: Readonly<Record<string, string>> = {};

export const isTest = (file: string): boolean =>
  /\.test\.tsx?$/.test(file) || file.startsWith('tests/') || file.startsWith(`${TESTING}/`);
/** What stands beside the code for its tests. */
const isForTests = (file: string): boolean => isTest(file) || /\/(?:[\w-]+-)?testing\.ts$|\/fixtures\//.test(file);
/** And what tests start as programs of their own. */
export const isHelp = (file: string): boolean => isForTests(file) || file.endsWith('-program.ts');
const roomOf = (file: string): string => file.split('/').slice(0, 2).join('/');
export const isRoom = (file: string): boolean => file.startsWith('packages/') || file.startsWith('apps/');

const allImports = (sources: readonly Source[]): Import[] => sources.flatMap(importsOf);

export const direction: Rule = (sources) =>
  allImports(sources.filter((source) => isRoom(source.path))).flatMap(({ from, specifier }) => {
    const target = /^@troupe\/([^/]+)/.exec(specifier)?.[1];
    if (target === undefined || target === 'testing' || MAY_IMPORT[roomOf(from)]?.includes(target)) return [];
    return [`${from} imports ${specifier}: not below ${roomOf(from)}`];
  });

const FOR_TESTS = /^(?:tests|bench|scripts)\/|^packages\/[^/]+\/scripts\//;

/** A program has no code for tests in it, and no entry gives any away. */
export const noTestCode: Rule = (sources) =>
  allImports(sources.filter(({ path: file }) => isRoom(file) && !isHelp(file) && !FOR_TESTS.test(file)))
    .filter(({ file }) => file !== undefined && isForTests(file))
    .map(({ from, specifier }) => `${from} imports ${specifier}: that is for tests`);

/** What most of a package's users must not load with it, or whose users must not load the package. */
const FURTHER_ENTRIES: ReadonlySet<string> = new Set([
  '@troupe/ai/stand-in',
  '@troupe/domain/built-in-skills',
  '@troupe/domain/imports',
  '@troupe/domain/skill-md',
  '@troupe/domain/agent-yaml',
  '@troupe/domain/team-yaml',
  '@troupe/fleet/program',
  '@troupe/kernel/archive',
  '@troupe/knowledge/pdf',
  '@troupe/knowledge/read',
]);

/** Programs that other rooms put together or start, by the address of their first file; tests and measures start any. */
const PROGRAMS: ReadonlySet<string> = new Set(['apps/agent/src/main.ts']);

export const noDeepImports: Rule = (sources) =>
  allImports(sources).flatMap(({ from, specifier, file, isStarted }) => {
    if (FURTHER_ENTRIES.has(specifier) || specifier.startsWith('@troupe/testing/')) return [];
    if (/^@troupe\/[^/]+\//.test(specifier)) return [`${from} imports ${specifier}: use the package's entry`];
    if (file === undefined || roomOf(file) === roomOf(from)) return [];
    if (isStarted && (PROGRAMS.has(file) || !isRoom(from) || isTest(from))) return [];
    const outsideRooms = !isRoom(from) && !isRoom(file);
    // The product's version stands in the root package and nowhere else.
    const version = file === 'package.json';
    return outsideRooms || version ? [] : [`${from} imports ${specifier}: it reaches into ${roomOf(file)}`];
  });

/** The areas; each may use those before it. A feature has the same address below each of these folders. */
const AREAS = ['platform', 'identity', 'agents', 'money', 'underground'];
/** In the dashboard the first page comes last: it shows something of every area. */
const PAGES = ['identity', 'agents', 'money', 'underground', 'platform'];
const BY_AREA: Readonly<Record<string, readonly string[]>> = {
  'apps/web/src': AREAS,
  'apps/backend/src': AREAS,
  'packages/contract/src': AREAS,
  'apps/dashboard/src/pages': PAGES,
};

/** The house of areas that a file is in, and its area. */
function areaOf(file: string): { house: string; area: string } | undefined {
  const house = Object.keys(BY_AREA).find((folder) => file.startsWith(`${folder}/`));
  const area = house && /^([^/]+)\//.exec(file.slice(house.length + 1))?.[1];
  return house && area ? { house, area } : undefined;
}

/** A slice is a folder in an area of a service. */
export const sliceOf = (file: string): string | undefined =>
  /^(apps\/(?:web|backend)\/src\/[^/]+\/[^/]+)\//.exec(file)?.[1];

export const areasInOrder: Rule = (sources) => {
  const strangers = sources.flatMap(({ path: file }) => {
    const at = areaOf(file);
    return at && !BY_AREA[at.house]?.includes(at.area) ? [`${file}: ${at.area} is no area`] : [];
  });
  const upwards = allImports(sources).flatMap(({ from, file }) => {
    const mine = areaOf(from);
    const theirs = areaOf(file ?? '');
    if (!mine || !theirs || mine.house !== theirs.house || isTest(from)) return [];
    const order = BY_AREA[mine.house] ?? [];
    return order.indexOf(theirs.area) <= order.indexOf(mine.area)
      ? []
      : [`${from} imports ${file}: ${theirs.area} is above ${mine.area}`];
  });
  return [...strangers, ...upwards];
};

export const slicesThroughService: Rule = (sources) =>
  allImports(sources).flatMap(({ from, file }) => {
    const mine = sliceOf(from);
    const theirs = file === undefined ? undefined : sliceOf(file);
    if (mine === undefined || theirs === undefined || mine === theirs || file === `${theirs}/service.ts`) return [];
    return [`${from} imports ${file}: another slice is used through its service.ts`];
  });

export const noCycles: Rule = (sources) => {
  const edges = new Map(
    sources.map((source) => [source.path, importsOf(source).flatMap(({ file }) => (file === undefined ? [] : [file]))]),
  );
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (file: string, trail: readonly string[]): void => {
    const start = trail.indexOf(file);
    if (start !== -1) found.push(`cycle: ${[...trail.slice(start), file].join(' → ')}`);
    if (start !== -1 || done.has(file)) return;
    for (const next of edges.get(file) ?? []) visit(next, [...trail, file]);
    done.add(file);
  };
  for (const file of edges.keys()) visit(file, []);
  return found;
};

export const withoutComments = (text: string): string => text.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');

export const environmentOnlyInMain: Rule = (sources) =>
  sources
    .filter(({ path: file }) => isRoom(file) && !isTest(file) && !/\/(main|testing|vite\.config)\.m?[jt]s$/.test(file))
    .filter(({ text }) => /\bprocess\.env\b/.test(withoutComments(text)))
    .map(({ path: file }) => `${file} reads process.env: take what it needs from its caller`);

export const everyRoomLivedIn: Rule = (sources) =>
  ROOMS.filter((room) => !sources.some((source) => source.path.startsWith(`${room}/`))).map(
    (room) => `${room} has no source that this test sees`,
  );

export const shortFiles: Rule = (sources) =>
  sources
    .map((source) => ({ path: source.path, lines: source.text.split('\n').length - 1 }))
    .filter(({ path: file, lines }) => lines > MAX_LINES && LONG_FILES[file] === undefined)
    .map(({ path: file, lines }) => `${file} has ${lines} lines, more than ${MAX_LINES}: split it`);

/** Each costs megabytes or a noticeable part of a second: loaded with `await import(…)` where it is first needed. */
const HEAVY =
  /^(mppx|stripe|dockerode|@kubernetes\/client-node|@modelcontextprotocol\/(?:sdk|client|server)|hardhat|viem|undici|nodemailer|ioredis|jose|yaml|@troupe\/domain\/(?:agent-yaml|team-yaml|skill-md|imports|built-in-skills))(?=\/|$)|^@x402\//;
const START = 'apps/platform/src/main.ts';

const STATIC_IMPORT = /(?:^|\n)(?:import|export)\s(?!type\s)(?:[^'"`;]*?\sfrom\s+)?['"]([^'"\n]+)['"]/g;

/** What a start loads, whether or not anybody ever uses it, must be light: memory when idle is a promise. */
export const lightStart: Rule = (sources) => {
  const files = new Map(sources.map((source) => [source.path, source]));
  const found: string[] = [];
  const seen = new Set<string>();
  const visit = (file: string, trail: readonly string[]): void => {
    const source = files.get(file);
    if (source === undefined || seen.has(file)) return;
    seen.add(file);
    for (const [, specifier = ''] of source.text.matchAll(STATIC_IMPORT)) {
      const name = /^@troupe\/(.+)/.exec(specifier)?.[1];
      if (HEAVY.test(specifier)) found.push(`a start loads ${specifier}: ${[...trail, file].join(' → ')}`);
      else if (specifier.startsWith('.')) visit(path.posix.join(path.posix.dirname(file), specifier), [...trail, file]);
      else if (name !== undefined) {
        for (const room of ['packages', 'apps']) visit(`${room}/${name}/src/index.ts`, [...trail, file]);
      }
    }
  };
  visit(START, []);
  return found;
};

/** A schema costs more to make than to use: zod compiles each. */
export const schemasMadeOnce: Rule = (sources) =>
  sources
    .filter(({ path: file, text }) => isRoom(file) && !isTest(file) && /\breadJson\(\s*\w+,\s*z\./.test(text))
    .map(({ path: file }) => `${file} makes a schema for each request: make it once, beside the function`);

/** They show sources that break a rule. */
export const SHOWS_BROKEN = /^tests\/architecture[\w-]*\.test\.ts$/;

const DEFINES_JOBS = /^packages\/contract\/src\/(?:job|[^/]+\/jobs)\.ts$/;
/** Ways to name a queue or a channel by a text of one's own. */
const NAMED: readonly RegExp[] = [
  /\bjobs\??\.(?:work|define)\(\s*['"`]/,
  /\bjobs\.send\(\s*[\w.]+,\s*['"`]/,
  /\blistener\.on\(\s*['"`]/,
  /\bnotify\(\s*[\w.]+,\s*['"`]/,
  /\bpgboss\.job\b[^`]*\bname = '/,
  /\bpg_notify\('(?!pgboss_)/,
];
const NAMES_IT = /\b(?:queue|channel): '([^']+)'/g;

/** A queue or a channel has its name and its shape in the contract, where sender and worker find both. */
export const jobsByContract: Rule = (sources) => {
  const seen = sources.filter(({ path: file }) => !file.startsWith('packages/db/') && !file.startsWith('tests/lib/'));
  const elsewhere = seen.filter(({ path: file }) => !DEFINES_JOBS.test(file) && !SHOWS_BROKEN.test(file));
  const names = sources
    .filter(({ path: file }) => DEFINES_JOBS.test(file))
    .flatMap(({ text }) => [...withoutComments(text).matchAll(NAMES_IT)].map(([, name = '']) => name));
  return [
    ...elsewhere
      .filter(({ text }) => NAMED.some((sign) => sign.test(withoutComments(text))))
      .map(({ path: file }) => `${file} names a queue or a channel: take the job or signal of the contract`),
    ...elsewhere
      .filter(
        ({ path: file, text }) =>
          !isTest(file) && /(?<![.\w])(?:job|signal)\(\{|\bpg_notify\(|from 'pg-boss'/.test(text),
      )
      .map(({ path: file }) => `${file} defines a job or a signal: that is jobs.ts of its area in the contract`),
    ...names
      .filter((name, index) => names.indexOf(name) !== index)
      .map((name) => `the contract has two jobs or signals that are named ${name}`),
  ];
};

/** Whose messages are not written for people by us. */
const OTHERS_MESSAGES = new Set(['packages/contract/src/messages.ts', 'packages/db/src/pipeline.ts']);
const BY_MESSAGE =
  /\.message\s*(?:[!=]==|\.(?:startsWith|endsWith|includes|match)\()|\.test\(\w+\.message\)|body(?:\.error|\['error'\])\s*[!=]==/;

/** Constants whose value is a sentence. */
const SENTENCES = /(export )?const ([A-Z][A-Z_]+) = ['`][A-Z][a-z’]* [^'`]*['`]/g;
const sentencesIn = (text: string) =>
  [...text.matchAll(SENTENCES)].map(([, exported, name = '']) => ({ name, isShared: exported !== undefined }));

/** A sentence is for people: it may be made better without anything else changing. */
export const codesNotTexts: Rule = (sources) => {
  const shared = sources
    .filter(({ path: file }) => file.startsWith('packages/contract/src/'))
    .flatMap(({ text }) => sentencesIn(text).filter(({ isShared }) => isShared));
  const compares = (text: string): boolean => {
    const theirs = shared.filter(({ name }) => !text.includes(`const ${name} =`));
    const names = [...theirs, ...sentencesIn(text)].map(({ name }) => name).join('|');
    return names !== '' && new RegExp(`[!=]== (?:${names})\\b|\\b(?:${names}) [!=]==`).test(text);
  };
  return sources
    .filter(({ path: file }) => /^(apps|packages)\//.test(file) && !isTest(file) && !OTHERS_MESSAGES.has(file))
    .map(({ path: file, text }) => ({ file, text: withoutComments(text) }))
    .filter(({ text }) => BY_MESSAGE.test(text) || compares(text))
    .map(({ file }) => `${file} goes by the text of an error: go by its code`);
};

/** Who writes rows of agents beside the roster, with the reason. */
const WRITES_AGENTS: Readonly<Record<string, string>> = {
  'packages/accounts/src/proof.ts': 'the proof of an address ends what was set up before it, in its own transaction',
};

export const agentsByRoster: Rule = (sources) =>
  sources
    .filter(({ path: file }) => isRoom(file) && !isTest(file) && !/\/testing[^/]*\.ts$/.test(file))
    .filter(({ path: file }) => !file.startsWith('packages/roster/') && WRITES_AGENTS[file] === undefined)
    .filter(({ text }) =>
      /(?:insertInto|updateTable|deleteFrom)\('agents'\)|\b(?:insert into|update|delete from) agents\b/.test(
        withoutComments(text),
      ),
    )
    .map(({ path: file }) => `${file} writes rows of agents: ask the roster`);

export const isStore = (file: string): boolean => /[/-]store\.ts$/.test(file);
const ofApps = (sources: readonly Source[]): Source[] =>
  sources.filter(({ path: file }) => /^apps\/[^/]+\/src\//.test(file) && !isHelp(file));
const SQL = /from 'kysely'|\.(?:selectFrom|insertInto|updateTable|deleteFrom|mergeInto)\(|\bsql(?:<[^`]*>)?`/;

/** Programs have their SQL in stores; packages that own rows are stores as a whole. */
export const sqlInStores: Rule = (sources) =>
  ofApps(sources)
    .filter(({ path: file, text }) => !isStore(file) && SQL.test(withoutComments(text)))
    .map(({ path: file }) => `${file} has SQL: that is a store's`);

const isRoutes = (file: string): boolean => /[/-]routes\.ts$/.test(file);

/** What a file of a slice, of that name, must not do. */
const NOT_THERE: readonly [is: (file: string) => boolean, sign: RegExp, why: string][] = [
  [isRoutes, /\bAppError\b/, 'refuses something: the rule is the service’s'],
  [isRoutes, /from '@troupe\/db'|from '[^']*[/-]store\.ts'/, 'reaches for rows: ask the service'],
  [isStore, /\bAppError\b/, 'answers over HTTP: say what was found, and let the service refuse'],
  [isStore, /from '[^']*\/(?:service|routes)\.ts'/, 'reaches up: a store uses no service'],
  [isStore, /export (?:async )?function create\w*Store\b/, 'is a closure: a store is functions over a scope'],
  [(file) => !isRoutes(file), /(?<![.\w])serve\(server, /, 'attaches an endpoint: that is done in routes.ts'],
];

/** What a slice promises is tested where it stands. */
export const slicesAreTested: Rule = (sources) => {
  const inSlices = sources.map(({ path: file }) => file).filter((file) => sliceOf(file) !== undefined);
  const tested = new Set(inSlices.filter((file) => file.endsWith('.test.ts')).map(sliceOf));
  const slices = [...new Set(inSlices.map(sliceOf))];
  return slices.filter((slice) => !tested.has(slice)).map((slice) => `${slice} has no test beside it`);
};

/** The sections of the contract that have one. */
const SPEC = /^tests\/spec\/(?:4\.(?:[1-9]|1[0-2])|[5-9])-[a-z-]+\.test\.ts$/;

/** What is tested over several slices is named by the section of the contract that it is about. */
export const specByItsSection: Rule = (sources) =>
  sources
    .map(({ path: file }) => file)
    .filter((file) => file.startsWith('tests/spec/') && !SPEC.test(file))
    .map((file) => `${file} is not named by a section of the contract: SECTION-about.test.ts`);

/** `createX`, and its type taken from it. */
const SERVICE_TYPE = /^export type \w+ = ReturnType<typeof (create\w+)>;$/m;

/** One shape of a slice: routes attach, the service rules, the store asks the database. */
export const slicesHaveOneShape: Rule = (sources) =>
  ofApps(sources)
    .filter(({ path: file }) => sliceOf(file) !== undefined)
    .flatMap(({ path: file, text }) => {
      const plain = withoutComments(text);
      const wrong = NOT_THERE.filter(([is, sign]) => is(file) && sign.test(plain)).map(([, , why]) => `${file} ${why}`);
      const made = SERVICE_TYPE.exec(text)?.[1];
      const isTyped = made !== undefined && new RegExp(`^export (?:function|const) ${made}\\b`, 'm').test(text);
      return file.endsWith('/service.ts') && !isTyped
        ? [...wrong, `${file} has no createX with its type as ReturnType<typeof createX>`]
        : wrong;
    });
