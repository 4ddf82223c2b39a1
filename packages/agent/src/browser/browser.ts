import { setTimeout as delay } from 'node:timers/promises';
import { defineTask, type WorkerPool } from '@troupe/kernel';
import type { EgressOptions } from '../sandbox/egress-proxy.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { createActions, type Actions } from './actions.ts';
import { CdpError, type Cdp } from './cdp.ts';
import { createDownloads } from './downloads.ts';
import { launch, type Launched } from './launch.ts';
import { createTabs, type Tab } from './tabs.ts';
import type { Frame, run as snapshot, Snapshot } from './tasks/snapshot.task.ts';

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

export interface Patience {
  /** For the first word of a page. */
  openMs: number;
  /** For all of it. */
  loadMs: number;
  /** For an answer to anything else. */
  answerMs: number;
}

const PATIENCE: Patience = { openMs: 20_000, loadMs: 15_000, answerMs: 10_000 };

/** What the agent is told instead of an answer. */
export class BrowserError extends Error {
  override readonly name = 'BrowserError';
}

const SNAPSHOT = defineTask<typeof snapshot>(new URL('./tasks/snapshot.task.ts', import.meta.url), 10_000);
const START_MS = 15_000;
const SETTLE_MS = 250;
const DOWNLOAD_MS = 60_000;
/** Nobody has asked it anything for so long. */
const IDLE_MS = 5 * 60_000;
const MOST_FRAMES = 8;
const MOST_ELEMENTS = 15_000;
const TEXT_CHARACTERS = 8_000;

interface FrameTree {
  frame: { id: string; url: string; loaderId: string };
  childFrames?: FrameTree[];
}

const framesIn = ({ frame, childFrames = [] }: FrameTree): FrameTree['frame'][] => [
  frame,
  ...childFrames.flatMap(framesIn),
];

/** What a page shows: its tree, or where that is too large the beginning of its text. */
function createLook({ pool, owner }: BrowserDeps, cdp: Cdp) {
  /** Which frame, and which document of it, a reference belongs to. */
  const places = new Map<string, { node: number; frameId: string; loaderId: string }>();

  async function count(sessionId: string): Promise<number> {
    const expression = 'document.getElementsByTagName("*").length';
    const { result } = await cdp.send<{ result: { value?: number } }>(
      'Runtime.evaluate',
      { expression },
      { sessionId },
    );
    return result.value ?? 0;
  }

  async function plain(sessionId: string, elements: number): Promise<string> {
    const expression = `(document.body?.innerText ?? "").slice(0, ${TEXT_CHARACTERS})`;
    const { result } = await cdp.send<{ result: { value?: string } }>(
      'Runtime.evaluate',
      { expression },
      { sessionId },
    );
    return `The page is too large for a snapshot (${elements} elements). Its text begins:\n${result.value ?? ''}`;
  }

  async function look(tab: Tab, most: number): Promise<string> {
    const { sessionId } = tab;
    places.clear();
    const elements = await count(sessionId);
    if (elements > MOST_ELEMENTS) return plain(sessionId, elements);
    const { frameTree } = await cdp.send<{ frameTree: FrameTree }>('Page.getFrameTree', {}, { sessionId });
    const frames = framesIn(frameTree).slice(0, MOST_FRAMES);
    const read: Frame[] = [];
    const asked: FrameTree['frame'][] = [];
    for (const frame of frames) {
      try {
        const answer = await cdp.raw('Accessibility.getFullAXTree', { frameId: frame.id }, { sessionId });
        read.push({ url: frame.url, answer });
        asked.push(frame);
      } catch (error) {
        if (error instanceof CdpError && error.kind === 'large') return plain(sessionId, elements);
        // A frame that went away meanwhile is not there to be shown.
        if (!(error instanceof CdpError && error.kind === 'refused')) throw error;
      }
    }
    const found: Snapshot = await pool.run(SNAPSHOT, { frames: read, most }, { key: owner });
    for (const [index, nodes] of found.refs.entries())
      for (const node of nodes)
        places.set(`e${node}`, {
          node,
          frameId: asked[index]?.id ?? '',
          loaderId: asked[index]?.loaderId ?? '',
        });
    tab.title = found.title;
    return found.text;
  }

  return { look, places };
}

interface Made {
  tabs: ReturnType<typeof createTabs>;
  downloads: ReturnType<typeof createDownloads>;
  notes: string[];
  loadMs: number;
}

/** What each call goes through: one after another, with what the page did meanwhile, within a time. */
function createTurns({ tabs, downloads, notes, loadMs }: Made, launched: Launched) {
  let last: Promise<unknown> = Promise.resolve();
  let idle = setTimeout(() => launched.stop('nobody used it for five minutes'), IDLE_MS);

  /** Waits until the page has loaded and what it downloads is there, and not for ever. */
  async function settle(): Promise<void> {
    await delay(SETTLE_MS);
    const until = Date.now() + loadMs;
    while (tabs.current()?.isLoading && Date.now() < until && launched.over() === undefined)
      await tabs.next(until - Date.now());
    if (tabs.current()?.isLoading) notes.push(`The page is still loading after ${loadMs / 1000} s.`);
    const arrives = Date.now() + DOWNLOAD_MS;
    while (downloads.isBusy() && Date.now() < arrives && launched.over() === undefined)
      await tabs.next(arrives - Date.now());
    notes.push(...(await downloads.collect()));
  }

  async function turn<T>(work: () => Promise<T>): Promise<T> {
    clearTimeout(idle);
    tabs.forgive();
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof CdpError)) throw error;
      if (error.kind === 'silent') launched.stop('the page did not answer');
      if (error.kind === 'silent' || error.kind === 'ended')
        throw new BrowserError(`The browser was ended: ${await launched.ended}. Open the page again, or another.`);
      throw new BrowserError(`The browser could not do it: ${error.message}.`);
    } finally {
      if (launched.over() === undefined)
        idle = setTimeout(() => launched.stop('nobody used it for five minutes'), IDLE_MS);
    }
  }

  return {
    settle,
    take: () => notes.splice(0),
    stopIdle: () => clearTimeout(idle),
    inTurn<T>(work: () => Promise<T>): Promise<T> {
      const next = last.then(() => turn(work));
      last = next.catch(() => undefined);
      return next;
    },
  };
}

export type Turns = ReturnType<typeof createTurns>;
export type Look = ReturnType<typeof createLook>;

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
