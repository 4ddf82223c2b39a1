/** What goes wrong at a service, by what is done about it. Messages are for the agent's owner: no secrets, no addresses. */

/** The service refused the token: trying again makes no sense before it is changed. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';
}

/** Something that the owner has to set right at the service; looked at again after a while. */
export class Trouble extends Error {
  override readonly name = 'Trouble';
  readonly waitMs: number | undefined;

  constructor(message: string, waitMs?: number) {
    super(message);
    this.waitMs = waitMs;
  }
}

/** The service will never take this, however often it is tried: the chat is gone, or the file is not there. */
export class Undeliverable extends Error {
  override readonly name = 'Undeliverable';
}

/** The service asks to come again after this time. */
export class TryLater extends Error {
  override readonly name = 'TryLater';
  readonly afterMs: number;

  constructor(service: string, afterMs: number) {
    super(`${service} asks to wait`);
    this.afterMs = afterMs;
  }
}

const OWNERS = new Set(['TokenRefused', 'Trouble', 'Undeliverable', 'TryLater', 'OutboundError', 'AppError']);

/** What the owner is told of an error; the log has the whole of it. */
export const inWords = (error: unknown): string =>
  error instanceof Error && OWNERS.has(error.name) ? error.message : 'Something went wrong; the log says what';
