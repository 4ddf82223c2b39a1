import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { rolldown } from 'rolldown';

/**
 * A program as one file, so that a machine needs nothing but Node to run it. Files that it starts threads with go into it
 * too, each as an address that is the file.
 */
export async function bundleProgram(pack: typeof rolldown, entry: string): Promise<string> {
  const build = await pack({
    input: entry,
    platform: 'node',
    logLevel: 'silent',
    plugins: [{ name: 'threads', load: { filter: { id: /\.ts$/ }, handler: (file) => withThreads(pack, file) } }],
  });
  try {
    const { output } = await build.generate({ format: 'esm', codeSplitting: false });
    return output[0].code;
  } finally {
    await build.close();
  }
}

const THREAD = /new URL\(\s*'(\.[^']*(?:\.task|\/thread)\.ts)',\s*import\.meta\.url,?\s*\)/g;

async function withThreads(pack: typeof rolldown, file: string): Promise<string> {
  let text = await readFile(file, 'utf8');
  for (const [whole, name = ''] of text.matchAll(THREAD)) {
    const code = Buffer.from(await bundleProgram(pack, path.resolve(path.dirname(file), name))).toString('base64');
    text = text.replace(whole, () => `new URL('data:text/javascript;base64,${code}')`);
  }
  return text;
}
