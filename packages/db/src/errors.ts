import type { BROKEN_AT, BROKEN_BEFORE } from '@troupe/kernel';

/** A row with that unique value exists already. */
export const isDuplicate = (error: unknown): boolean => (error as { code?: string } | null)?.code === '23505';

/** What the row is about is no more. */
export const isOrphan = (error: unknown): boolean => (error as { code?: string } | null)?.code === '23503';

/** The server itself refused, so nothing of it is stored; after a broken connection nobody knows. */
export const isRefused = (error: unknown): boolean => (error as { severity?: string } | null)?.severity === 'ERROR';

/** The connection ended under a statement; `code` says whether anything of it can be stored. */
export class BrokenConnection extends Error {
  override readonly name = 'BrokenConnection';
  readonly code: typeof BROKEN_AT | typeof BROKEN_BEFORE;

  constructor(code: typeof BROKEN_AT | typeof BROKEN_BEFORE, cause: unknown) {
    super('The connection to the database broke', { cause });
    this.code = code;
  }
}
