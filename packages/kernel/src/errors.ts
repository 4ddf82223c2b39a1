/** An error with an answer: its message is shown to the caller, `extra` goes into the body beside it. */
export class AppError extends Error {
  readonly status: number;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    extra: Readonly<Record<string, unknown>> = {},
    options: { cause?: unknown; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.status = status;
    this.extra = extra;
    this.headers = options.headers ?? {};
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

/** A start that cannot succeed: printed as one sentence, without a stack, exit code 1. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
