import { importsOf } from '@troupe/testing/sources/sources';
import { isHelp, isRoom, isStore, SHOWS_BROKEN, sliceOf, withoutComments, type Rule } from './architecture.ts';

/** Rules about what stands inside a room: the wings of the agent, a slice and its store, what a service is made of. */

const AGENT = 'packages/agent/src/';
/** The wings of the agent from the bottom up. What all of them speak of stands at the front, and is no wing. */
const WINGS = ['session', 'sandbox', 'workspace', 'browser', 'skills', 'programs', 'store', 'tools', 'loop', 'gateway'];
const wingOf = (file: string | undefined): string | undefined =>
  file?.startsWith(AGENT) ? /^([\w-]+)\//.exec(file.slice(AGENT.length))?.[1] : undefined;

export const wingsInOrder: Rule = (sources) => {
  const shipped = sources.filter(({ path: file }) => wingOf(file) !== undefined && !isHelp(file));
  const strangers = shipped
    .filter(({ path: file }) => !WINGS.includes(wingOf(file) ?? ''))
    .map(({ path: file }) => `${file}: ${wingOf(file)} is no wing`);
  const upwards = shipped.flatMap(importsOf).flatMap(({ from, file }) => {
    const [mine, theirs] = [wingOf(from), wingOf(file)].map((wing) => WINGS.indexOf(wing ?? ''));
    return theirs! > mine! ? [`${from} imports ${file}: ${WINGS[theirs!]} is above ${WINGS[mine!]}`] : [];
  });
  return [...strangers, ...upwards];
};

/** A slice rules in its service; one that only passes on what another service decides has nothing but routes. */
export const slicesHaveAService: Rule = (sources) => {
  const files = sources.map(({ path: file }) => file).filter((file) => sliceOf(file) !== undefined && !isHelp(file));
  const served = new Set(files.filter((file) => file.endsWith('/service.ts')).map(sliceOf));
  return files
    .filter((file) => !served.has(sliceOf(file)) && !file.endsWith('/routes.ts'))
    .map((file) => `${file}: its slice has no service.ts`);
};

/** Nobody but the slice itself asks its store, also not whoever wires it. */
export const storesStayInside: Rule = (sources) =>
  sources
    .filter(({ path: file }) => isRoom(file) && !isHelp(file))
    .flatMap(importsOf)
    .filter(({ from, file = '' }) => isStore(file) && sliceOf(file) !== undefined && sliceOf(file) !== sliceOf(from))
    .map(({ from, file }) => `${from} imports ${file}: a store is its slice's own`);

/** What a service has one of, made where it is put together and handed on. */
const ONCE = /(?<!function )\b(createAccounts|createRoster|createLedger|createCardProcessor|readCatalogue)\(/g;

export const builtOnce: Rule = (sources) => {
  const places = new Map<string, string[]>();
  for (const { path: file, text } of sources) {
    const app = /^apps\/[^/]+\//.exec(file)?.[0];
    if (app === undefined || isHelp(file)) continue;
    for (const [, what = ''] of withoutComments(text).matchAll(ONCE))
      places.set(app + what, [...(places.get(app + what) ?? []), file]);
  }
  return [...places]
    .filter(([, files]) => files.length > 1)
    .map(([what, files]) => `${what} is called in ${files.join(' and ')}: make it once and hand it on`);
};

/** Where the language's own `fetch` is called, with the reason. */
export const OWN_FETCH: Readonly<Record<string, string>> = {
  'packages/fleet/src/container-fetch.ts':
    'containers on a network of our own, where the guarded client goes to nothing',
  'packages/kernel/src/telemetry/telemetry.ts':
    'one address, which the operator set, bounded by itself; half the memory',
};
/** In a browser there is no other; the client is given its own. */
const BROWSER = /^(?:apps\/dashboard|apps\/cli|packages\/client)\//;
const FETCH = /(?<![.\w]|function )fetch\(|\bglobalThis\.fetch\b/;
/** A function of that name that was made or handed in here. */
const LOCAL = /\bfunction fetch\(|\bfetch: \w|\bfetch =|\basync fetch\(/;

/** Everything fetched from outside goes through one client with time-outs, size caps and a check of the address. */
export const fetchIsGuarded: Rule = (sources) =>
  sources
    .filter(({ path: file }) => isRoom(file) && !isHelp(file) && !BROWSER.test(file) && !file.includes('/scripts/'))
    .filter(({ path: file }) => OWN_FETCH[file] === undefined)
    .filter(({ text }) => FETCH.test(withoutComments(text)) && !LOCAL.test(withoutComments(text)))
    .map(({ path: file }) => `${file} calls fetch: use the guarded client of the kernel`);

const OFF = /(?:oxlint|eslint)-disable(?:-next-line|-line)?\s[^\n]*/g;

/** A rule of the linter that is off for a line says why, behind two dashes. */
export const linesSayWhy: Rule = (sources) =>
  sources
    .filter(({ path: file }) => !file.startsWith('tests/lib/') && !SHOWS_BROKEN.test(file))
    .flatMap(({ path: file, text }) =>
      [...text.matchAll(OFF)]
        .filter(([line]) => !/ -- \S/.test(line))
        .map(([line]) => `${file} has ${line.trim()} without its reason: -- why`),
    );
