import { domainAllowed } from '@troupe/domain';
import type { WorkerPool } from '@troupe/kernel';
import { z } from 'zod';
import type { Browser, BrowserDeps } from '../browser/browser.ts';
import type { EgressOptions } from '../sandbox/egress-proxy.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { failed, tool, type Tool, type ToolContext, type ToolResult } from './tool.ts';

/** A browser of the run's own, in the sandbox. All of it is loaded when it is first used. */

/** What the owner has sealed for an agent to sign in with. */
export interface LoginSource {
  /** Without what is sealed. */
  list: () => Promise<{ name: string; origin: string }[]>;
  open: (name: string) => Promise<{ name: string; origin: string; username: string; password: string } | undefined>;
}

export interface BrowserToolDeps {
  sandbox: Sandbox;
  pool: WorkerPool;
  owner: string;
  egress?: Omit<EgressOptions, 'allowedDomains'>;
  logins?: LoginSource;
  /** Where Chromium is looked for; left out: where distributions put it. */
  chromium?: readonly string[];
  patience?: BrowserDeps['patience'];
}

const KEY_NAMES = [
  'Enter',
  'Tab',
  'Escape',
  'Backspace',
  'Delete',
  'ArrowUp',
  'ArrowDown',
  'ArrowLeft',
  'ArrowRight',
  'PageUp',
  'PageDown',
  'Home',
  'End',
] as const;

const ref = z.string().max(20).describe('Of the last snapshot, such as e12');
const ARGS = {
  none: z.object({}),
  open: z.object({ url: z.string().max(4096) }),
  click: z.object({ ref }),
  type: z.object({
    ref,
    text: z.string().max(20_000),
    submit: z.boolean().default(false).describe('Press Enter after'),
  }),
  login: z.object({ ref, login: z.string().max(100), field: z.enum(['username', 'password']) }),
  select: z.object({ ref, values: z.array(z.string().max(1000)).min(1).max(50) }),
  press: z.object({ key: z.enum(KEY_NAMES) }),
  wait: z.object({
    seconds: z.number().min(0.1).max(30).default(5),
    text: z.string().min(1).max(1000).optional().describe('Until the page shows it'),
  }),
  tabs: z.object({ choose: z.int().min(1).max(10).optional() }),
  screenshot: z.object({ whole: z.boolean().default(false).describe('The page beyond what fits') }),
};

const HELD = 'browser';
const MOST_PICTURE = 3_500_000;
const FOLDER = 'screenshots';

type Held = Browser & { close: () => Promise<void> };

/** Why there is no browser here; undefined: there is one. */
export async function browserOff({ sandbox, chromium }: Pick<BrowserToolDeps, 'sandbox' | 'chromium'>) {
  const reason = await sandbox.unavailable();
  if (reason !== undefined) return `there is no sandbox to run it in (${reason})`;
  const { findChromium } = await import('../browser/launch.ts');
  return findChromium(chromium) === undefined ? 'Chromium is not installed' : undefined;
}

/** The browser of a run: made at its first use, and anew when it ended or its owner changed what it may reach. */
function createOpening(workspace: () => Promise<Workspace>, deps: BrowserToolDeps) {
  const { sandbox, owner } = deps;

  async function make(allowedDomains: readonly string[]): Promise<Held> {
    const { findChromium } = await import('../browser/launch.ts');
    const { startBrowser } = await import('../browser/browser.ts');
    const program = findChromium(deps.chromium);
    const give = program === undefined ? undefined : sandbox.seats.browser.take(owner);
    if (program === undefined || give === undefined)
      throw new Error('Too many browsers are open already. Try again when another run has ended.');
    try {
      const browser = await startBrowser({ ...deps, program, workspace, allowedDomains });
      return { ...browser, close: () => browser.close().finally(give) };
    } catch (error) {
      give();
      throw error;
    }
  }

  return {
    off: () => browserOff(deps),
    async browser({ held, definition }: ToolContext): Promise<Held> {
      const { allowedDomains } = definition.config.safety;
      const known = await held.find<Held>(HELD);
      const isOther = known && known.allowedDomains.join() !== allowedDomains.join();
      if (known && (isOther || known.over() !== undefined)) await held.drop(HELD);
      return held.get(HELD, () => make(allowedDomains));
    },
  };
}

/** Before anything is started: addresses that no browser of this agent opens. */
function refusal(url: string, allowedDomains: readonly string[]): string | undefined {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    return 'Only http and https addresses are opened.';
  const { hostname, username, password } = new URL(url);
  if (username !== '' || password !== '') return 'Addresses with a name or password in them are not opened.';
  if (allowedDomains.length > 0 && !domainAllowed(hostname, allowedDomains))
    return `The owner does not allow ${hostname}.`;
  return undefined;
}

async function kept(target: Workspace, picture: Buffer, says: string): Promise<ToolResult> {
  const name = `${FOLDER}/${new Date().toISOString().slice(0, 19).replace(/[:T]/g, '-')}.jpg`;
  const { path, bytes } = await target.put(name, one(picture), { maxBytes: MOST_PICTURE, fresh: true });
  return { content: `${says}\nKept as ${path}.`, pictures: [{ path, kind: 'picture', mime: 'image/jpeg', bytes }] };
}

async function* one(chunk: Buffer): AsyncGenerator<Buffer> {
  yield chunk;
}

/** How a tool of the browser is made. */
function createMaking({ off, browser }: ReturnType<typeof createOpening>) {
  type Work = (open: Held) => Promise<string | ToolResult>;

  /** A sentence in place of whatever goes wrong in there, and an end to what is waited for when the run is stopped. */
  async function use(context: ToolContext, work: Work): Promise<string | ToolResult> {
    const reason = await off();
    if (reason !== undefined) return failed(`The browser is off: ${reason}.`);
    const end = (): void => void context.held.drop(HELD);
    context.signal.addEventListener('abort', end, { once: true });
    try {
      return await work(await browser(context));
    } catch (error) {
      context.signal.throwIfAborted();
      return failed((error as Error).message);
    } finally {
      context.signal.removeEventListener('abort', end);
    }
  }

  return <S extends z.ZodType>(
    name: string,
    description: string,
    args: S,
    work: (open: Held, given: z.output<S>, context: ToolContext) => Promise<string | ToolResult>,
    check?: (given: z.output<S>, context: ToolContext) => string | undefined,
  ): Tool =>
    tool({
      name,
      toolset: 'browser',
      description,
      args,
      repeatable: false,
      async run(given, context) {
        const why = check?.(given, context);
        return why === undefined ? use(context, (open) => work(open, given, context)) : failed(why);
      },
    });
}

export function browserTools(workspace: () => Promise<Workspace>, deps: BrowserToolDeps): Tool[] {
  const made = createMaking(createOpening(workspace, deps));
  return [
    made(
      'browser_open',
      'Open a web page in the browser and show what is on it.',
      ARGS.open,
      (open, { url }) => open.open(url),
      ({ url }, { definition }) => refusal(url, definition.config.safety.allowedDomains),
    ),
    made('browser_snapshot', 'Show what is on the page, with references.', ARGS.none, (open) => open.snapshot()),
    made('browser_click', 'Click something on the page.', ARGS.click, (open, given) => open.click(given.ref)),
    made('browser_type', 'Type into a field; what was in it goes.', ARGS.type, (open, { ref: at, text, submit }) =>
      open.type(at, text, submit),
    ),
    made('browser_select', 'Choose in a list, by label or value.', ARGS.select, (open, { ref: at, values }) =>
      open.select(at, values),
    ),
    made('browser_press', 'Press a key.', ARGS.press, (open, { key }) => open.press(key)),
    made('browser_wait', 'Wait for a text to appear, or for some seconds.', ARGS.wait, (open, given, { signal }) =>
      open.wait(given, signal),
    ),
    made('browser_back', 'Go back to the page before.', ARGS.none, (open) => open.back()),
    made('browser_tabs', 'List the open pages, or choose one.', ARGS.tabs, (open, { choose }) => open.tabs(choose)),
    made('browser_screenshot', 'Take a picture of the page.', ARGS.screenshot, async (open, { whole }) => {
      const { picture, says } = await open.screenshot(whole);
      return kept(await workspace(), picture, says);
    }),
    ...loginTools(deps.logins, made),
  ];
}

type Make = <S extends z.ZodType>(
  name: string,
  description: string,
  args: S,
  work: (open: Held, given: z.output<S>, context: ToolContext) => Promise<string | ToolResult>,
) => Tool;

/** Logins are named, never read. */
function loginTools(logins: LoginSource | undefined, made: Make): Tool[] {
  const none = logins
    ? 'Your owner has sealed no logins for you.'
    : 'An agent that runs outside of the platform has no sealed logins.';
  return [
    tool({
      name: 'browser_logins',
      toolset: 'browser',
      description: 'List the sealed logins that browser_login can type: names and sites, never values.',
      args: ARGS.none,
      repeatable: true,
      async run() {
        const all = (await logins?.list()) ?? [];
        return all.map(({ name, origin }) => `${name}: ${origin}`).join('\n') || none;
      },
    }),
    made(
      'browser_login',
      'Type the username or password of a sealed login into a field of its site. You never see the value.',
      ARGS.login,
      async (open, { ref: at, login, field }) => {
        const found = await logins?.open(login);
        if (!found) return failed(`There is no login ${login}. ${logins ? 'List them with browser_logins.' : none}`);
        return open.login(at, { name: found.name, origin: found.origin, field, value: found[field] });
      },
    ),
  ];
}
