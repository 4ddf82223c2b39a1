import { AppError } from '@troupe/kernel';
import type { Metadata, Page } from './store.ts';

export interface ListQuery {
  limit: number;
  page?: string | undefined;
  include_archived: 'true' | 'false';
}

/** A page ends with what goes beyond this, however many are wanted. */
export const PAGE_BYTES = 1024 * 1024;

/** A page is named by where it begins. `shown`: undefined is left out. */
export async function paged<Row, T>(
  { limit, page = '0', include_archived: archived }: ListQuery,
  read: (page: Page) => Promise<readonly Row[]>,
  shown: (row: Row) => T | undefined | Promise<T | undefined>,
): Promise<{ data: T[]; next_page: string | null }> {
  if (!/^\d{1,9}$/.test(page)) throw new AppError(400, 'page must be one that was given');
  const offset = Number(page);
  const rows = await read({ limit, offset, archived: archived === 'true' });
  const data: T[] = [];
  let [taken, bytes] = [0, 0];
  for (const row of rows) {
    const one = await shown(row);
    taken += 1;
    if (one === undefined) continue;
    data.push(one);
    bytes += JSON.stringify(one).length;
    if (bytes > PAGE_BYTES) break;
  }
  return { data, next_page: taken < rows.length || taken === limit ? String(offset + taken) : null };
}

const MOST = 16;

/** With what is given on top; null takes an entry away. */
export function changed(was: Metadata, given: Readonly<Record<string, string | null>> | null | undefined): Metadata {
  const all = Object.entries({ ...was, ...given });
  const left = all.filter((entry): entry is [string, string] => entry[1] !== null);
  if (left.length > MOST) throw new AppError(400, 'metadata may have 16 entries');
  return Object.fromEntries(left);
}
