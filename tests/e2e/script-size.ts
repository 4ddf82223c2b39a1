import { gzipSync } from 'node:zlib';
import type { Page, Response } from 'playwright-core';

/** What any page may load. */
export const MOST_SCRIPT = 300_000;

/** By address: a script that many pages load is taken from the browser and packed once. */
const sizes = new Map<string, Promise<number>>();

/** Gzipped bytes of all scripts that a visit with an empty cache loads. */
export async function scriptSize(page: Page, visit: () => Promise<void>): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  const loaded: Promise<number>[] = [];
  const collect = (response: Response) => {
    if (response.request().resourceType() === 'script') loaded.push(packedSize(response));
  };
  page.on('response', collect);
  await visit();
  page.off('response', collect);
  const found = await Promise.all(loaded);
  await session.detach();
  return found.reduce((sum, size) => sum + size, 0);
}

function packedSize(response: Response): Promise<number> {
  const url = response.url();
  const known = sizes.get(url);
  if (known) return known;
  const size = response.body().then(
    (body) => gzipSync(body).length,
    () => {
      // A body that is gone belonged to the page that was just left: the next page that loads it has it.
      sizes.delete(url);
      return 0;
    },
  );
  sizes.set(url, size);
  return size;
}
