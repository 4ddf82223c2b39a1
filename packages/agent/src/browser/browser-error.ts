/** What the agent is told instead of an answer. */
export class BrowserError extends Error {
  override readonly name = 'BrowserError';
}
