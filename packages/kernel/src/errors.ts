/** An error with an answer: its message is shown to the caller, `extra` goes into the body beside it. */
export class AppError extends Error {
  readonly status: number;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  /** What the program goes by, never the message: the one in `extra` where callers are told it, too. */
  readonly code: string | undefined;

  constructor(
    status: number,
    message: string,
    extra: Readonly<Record<string, unknown>> = {},
    options: { cause?: unknown; headers?: Readonly<Record<string, string>>; code?: string } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.status = status;
    this.extra = extra;
    this.headers = options.headers ?? {};
    this.code = options.code ?? (typeof extra['code'] === 'string' ? extra['code'] : undefined);
  }

  get body(): Record<string, unknown> {
    return { ...this.extra, error: this.message };
  }
}

/** Nothing was done, and the same request may succeed in a moment. */
export const databaseAway = (cause: unknown): AppError =>
  new AppError(
    503,
    'The database does not answer at the moment. Try again in a few seconds.',
    {},
    { cause, headers: { 'retry-after': '2' } },
  );

/** The code of what broke with its connection before it was to be kept: nothing of it is. */
export const BROKEN_BEFORE = 'TROUPE_BROKEN_BEFORE';
/** The code of what broke with its connection while it was on its way: it may be kept, or not. */
export const BROKEN_AT = 'TROUPE_BROKEN_AT';

const databaseBroke = (cause: unknown): AppError =>
  new AppError(
    503,
    'The connection to the database broke. Look whether this was done before you try again.',
    {},
    { cause, headers: { 'retry-after': '2' } },
  );

/**
 * What PostgreSQL says when it did nothing because it cannot for now: read-only after a fail-over, out of disk, memory or
 * connections, locked for too long, in another's way, stopping or starting.
 */
const NOT_NOW: ReadonlySet<unknown> = new Set([
  '25006',
  '40001',
  '40P01',
  '53100',
  '53200',
  '53300',
  '55P03',
  '57014',
  '57P01',
  '57P02',
  '57P03',
  BROKEN_BEFORE,
]);

/** Nothing of it can be stored until somebody frees space. */
const diskFull = (cause: unknown): AppError =>
  new AppError(
    503,
    'The disk of this service is full. Whoever runs it must free space.',
    {},
    { cause, headers: { 'retry-after': '30' } },
  );

const FULL: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

/** An error that has an answer: one that was made for it, or one of the database or the disk that means "not now". */
export function answerable(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error;
  const code = (error as { code?: unknown } | null)?.code;
  if (FULL.has(code)) return diskFull(error);
  if (code === BROKEN_AT) return databaseBroke(error);
  return NOT_NOW.has(code) ? databaseAway(error) : undefined;
}

/** A service answers what its contract does not say. Only outside production: its message is shown. */
export class ContractError extends Error {
  override readonly name = 'ContractError';
}

/** A start that cannot succeed: printed as one sentence, without a stack, exit code 1. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
