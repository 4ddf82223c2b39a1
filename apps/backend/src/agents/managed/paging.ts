import { AppError } from '@troupe/kernel';
import type { Metadata, Page } from './store.ts';

export interface ListQuery {
  limit: number;
  page?: string | undefined;
  include_archived: 'true' | 'false';
}

/** A page is named by where it begins. */
export async function paged<T>(
  { limit, page = '0', include_archived: archived }: ListQuery,
  read: (page: Page) => Promise<{ count: number; data: T[] }>,
): Promise<{ data: T[]; next_page: string | null }> {
  if (!/^\d{1,9}$/.test(page)) throw new AppError(400, 'page must be one that was given');
  const offset = Number(page);
  const { count, data } = await read({ limit, offset, archived: archived === 'true' });
  return { data, next_page: count === limit ? String(offset + count) : null };
}

const MOST = 16;

/** With what is given on top; null takes an entry away. */
export function changed(was: Metadata, given: Readonly<Record<string, string | null>> | null | undefined): Metadata {
  const all = Object.entries({ ...was, ...given });
  const left = all.filter((entry): entry is [string, string] => entry[1] !== null);
  if (left.length > MOST) throw new AppError(400, 'metadata may have 16 entries');
  return Object.fromEntries(left);
}
