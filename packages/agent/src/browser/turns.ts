import { setTimeout as delay } from 'node:timers/promises';
import { BrowserError } from './browser-error.ts';
import { CdpError } from './cdp.ts';
import type { Downloads } from './downloads.ts';
import type { Launched } from './launch.ts';
import type { OpenTabs } from './tabs.ts';

export type Turns = ReturnType<typeof createTurns>;

const SETTLE_MS = 250;
const DOWNLOAD_MS = 60_000;
/** Nobody has asked it anything for so long. */
const IDLE_MS = 5 * 60_000;

interface Made {
  tabs: OpenTabs;
  downloads: Downloads;
  notes: string[];
  loadMs: number;
}

/** What each call goes through: one after another, with what the page did meanwhile, within a time. */
export function createTurns({ tabs, downloads, notes, loadMs }: Made, launched: Launched) {
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
