/** What is stored or told is not what the contract says: an older or newer release wrote it, or somebody by hand. */
export class Misfit extends Error {
  override readonly name = 'Misfit';

  /** Says where and why, never what: the data may hold an address or worse. */
  constructor(what: string, { issues }: { issues: readonly { path: PropertyKey[]; message: string }[] }) {
    super(`${what}: ${issues.map(({ path, message }) => `${path.join('.') || 'it'} ${message.trim()}`).join('; ')}`);
  }
}
