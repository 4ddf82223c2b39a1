import { web } from '@troupe/contract';
import { call } from './api.ts';

/** When the platform is away. */

/** A page of ours for whoever opens or reloads one then, instead of the browser's. */
export async function keepOwnPage(): Promise<void> {
  // Not there over plain http of another machine; then it is the browser's page after all.
  await navigator.serviceWorker?.register('/worker.js').catch(() => undefined);
}

/** A page of the dashboard could not be loaded because the platform is away. */
export class PageAway extends Error {
  override readonly name = 'PageAway';
}

/**
 * The router reloads the tab when a part of the dashboard is missing, which is right after an update. When nobody answers
 * the tab would be lost, with all that was typed in it.
 */
export async function loadPage<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    await call(web.health.get, {}).catch(() => {
      throw new PageAway('', { cause: error });
    });
    throw error;
  }
}
