import type { WorkerPool } from '@troupe/kernel';
import type { EgressOptions } from '../sandbox/egress-proxy.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { createActions, type Actions } from './actions.ts';
import { BrowserError } from './browser-error.ts';
import type { Cdp } from './cdp.ts';
import { createDownloads } from './downloads.ts';
import { launch, type Launched } from './launch.ts';
import { createLook } from './look.ts';
import { createTabs } from './tabs.ts';
import { createTurns } from './turns.ts';

/** One browser of one run: what it is asked, it does, or says in a sentence why not. */

export interface Browser extends Actions {
  /** The addresses that it may reach, as its owner said when it was started. */
  readonly allowedDomains: readonly string[];
  readonly pid: number | undefined;
  /** Why it has ended; undefined: it goes on. */
  over: () => string | undefined;
  close: () => Promise<void>;
}

export interface BrowserDeps {
  sandbox: Sandbox;
  program: string;
  egress?: Omit<EgressOptions, 'allowedDomains'> | undefined;
  pool: WorkerPool;
  owner: string;
  workspace: () => Promise<Workspace>;
  allowedDomains: readonly string[];
  /** How long pages are waited for; tests have less of it. */
  patience?: Partial<Patience> | undefined;
}

interface Patience {
  /** For the first word of a page. */
  openMs: number;
  /** For all of it. */
  loadMs: number;
  /** For an answer to anything else. */
  answerMs: number;
}

const PATIENCE: Patience = { openMs: 20_000, loadMs: 15_000, answerMs: 10_000 };

const START_MS = 15_000;

export async function startBrowser(deps: BrowserDeps): Promise<Browser> {
  const notes: string[] = [];
  const patience = { ...PATIENCE, ...deps.patience };
  const here: { launched?: Launched } = {};
  const cdp = (): Cdp => {
    if (!here.launched) throw new BrowserError('The browser has not started.');
    return here.launched.cdp;
  };
  const tabs = createTabs({ cdp, note: (text) => void (notes.length < 30 && notes.push(text)) });
  const downloads = createDownloads({ cdp, folder: () => here.launched?.folder ?? '', workspace: deps.workspace });
  const launched = await launch({
    ...deps,
    answerMs: patience.answerMs,
    onEvent: (event) => {
      downloads.hear(event);
      tabs.hear(event);
    },
  });
  here.launched = launched;
  const turns = createTurns({ tabs, downloads, notes, loadMs: patience.loadMs }, launched);
  void launched.ended.then(turns.stopIdle);
  const close = async (): Promise<void> => {
    launched.stop('the run ended');
    await launched.ended;
  };
  try {
    const { send } = launched.cdp;
    const first = { timeoutMs: START_MS };
    const download = { behavior: 'allowAndName', downloadPath: '/workspace', eventsEnabled: true };
    await send('Browser.setDownloadBehavior', download, first);
    await send('Target.setDiscoverTargets', { discover: true }, first);
    const filter = [{ type: 'page' }, { exclude: true }];
    await send(
      'Target.setAutoAttach',
      { autoAttach: true, waitForDebuggerOnStart: false, flatten: true, filter },
      first,
    );
  } catch (error) {
    const why = launched.over() ?? (error as Error).message;
    await close();
    throw new BrowserError(`The browser could not be started: ${why}.`);
  }
  return {
    ...createActions({ cdp: launched.cdp, tabs, turns, openMs: patience.openMs, ...createLook(deps, launched.cdp) }),
    allowedDomains: deps.allowedDomains,
    pid: launched.pid,
    over: launched.over,
    close,
  };
}
