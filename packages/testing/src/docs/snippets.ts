import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The snippets of docs/clients.md, as somebody would run them who copied them from there. */

const root = path.resolve(import.meta.dirname, '../../../..');
const page = readFileSync(path.join(root, 'docs/clients.md'), 'utf8');

export interface Snippet {
  /** The heading that it stands under. */
  title: string;
  language: 'js' | 'sh';
  /** What has to be installed for it. */
  program: string | undefined;
  code: string;
}

export const snippets: Snippet[] = [...page.matchAll(/^## (.+)\n\n```(js|sh)(?: (\w+))?\n([\s\S]*?)```$/gm)].map(
  ([, title = '', language, program, code = '']) => ({ title, language: language as 'js', program, code }),
);

/** All that stand on the page, also those that nothing would find. */
export const fences = (page.match(/^```/gm) ?? []).length / 2;

export interface Where {
  /** What stands on the page, and what stands for it here. */
  addresses: Readonly<Record<string, string>>;
  home: string;
  env: Readonly<Record<string, string>>;
}

/** Others name the platform's address, too (an agent's card does): to whoever fetches it leads where it is here. */
const leading = (addresses: Where['addresses']): string =>
  `data:text/javascript,${encodeURIComponent(`
  const [real, leads] = [globalThis.fetch, ${JSON.stringify(Object.entries(addresses))}];
  globalThis.fetch = (given, init) => {
    let url = given instanceof Request ? given : String(given);
    if (typeof url === 'string') for (const [from, to] of leads) url = url.replace(from, to);
    return real(url, init);
  };`)}`;

export function begin({ language, code }: Snippet, { addresses, home, env }: Where): ChildProcess {
  const here = Object.entries(addresses).reduce((text, [from, to]) => text.replaceAll(from, to), code);
  const [command, args] =
    language === 'js'
      ? [process.execPath, ['--import', leading(addresses), '--input-type=module', '-e', here]]
      : ['bash', ['-euc', here]];
  const bin = ['tests/judges/node_modules/.bin', 'node_modules/.bin'].map((one) => path.join(root, one));
  return spawn(command, args, {
    cwd: language === 'js' ? root : home,
    env: {
      PATH: [...bin, process.env['PATH']].join(path.delimiter),
      HOME: home,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** What it printed; throws when it failed. */
export async function run(snippet: Snippet, where: Where): Promise<string> {
  const child = begin(snippet, where);
  let said = '';
  let wrong = '';
  child.stdout!.on('data', (text: Buffer) => (said += text.toString()));
  child.stderr!.on('data', (text: Buffer) => (wrong += text.toString()));
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`${snippet.title} ended with ${String(code)}: ${said}${wrong}`);
  return said;
}
