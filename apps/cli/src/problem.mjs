/** How the command ends; scripts go by it. */
export const EXIT = /** @type {const} */ ({
  failed: 1,
  usage: 2,
  signedOut: 3,
  notFound: 4,
  unreachable: 5,
});

/** Something that the person at the terminal is told, without a trace of the program. */
export class Problem extends Error {
  /**
   * @param {string} message
   * @param {number} code
   */
  constructor(message, code = EXIT.failed) {
    super(message);
    this.code = code;
  }
}

/** @param {string} message */
export const usage = (message) => new Problem(`${message}\nTry: troupe --help`, EXIT.usage);

/**
 * What an error is, in a sentence and an exit code.
 * @param {unknown} error
 * @returns {Problem | null} null: a mistake of ours
 */
export function problemOf(error) {
  if (error instanceof Problem) return error;
  if (!(error instanceof Error)) return null;
  const { status } = /** @type {{ status?: unknown }} */ (error);
  if (typeof status === 'number') {
    if (status === 401) return new Problem(`${error.message}: sign in with troupe login`, EXIT.signedOut);
    return new Problem(error.message, status === 404 ? EXIT.notFound : EXIT.failed);
  }
  if (error.name === 'TimeoutError') return new Problem('The platform did not answer in time', EXIT.unreachable);
  // What fetch says when nobody is there; its cause knows why.
  if (error instanceof TypeError && error.cause !== undefined) {
    const cause = /** @type {{ code?: string, message?: string } | undefined} */ (error.cause);
    return new Problem(
      `The platform cannot be reached (${cause?.code ?? cause?.message ?? 'no reason given'})`,
      EXIT.unreachable,
    );
  }
  const { code } = /** @type {{ code?: unknown }} */ (error);
  // Files that cannot be read or written, options that do not exist.
  if (typeof code === 'string' && code.startsWith('ERR_PARSE_ARGS')) return usage(error.message);
  return typeof code === 'string' && /^E[A-Z]+$/.test(code) ? new Problem(error.message) : null;
}
