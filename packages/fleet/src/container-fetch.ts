/**
 * To an agent's container, at the address that its engine gave: on a network of our own, where the guarded client goes
 * to nothing. What is asked of an agent is asked of nobody else in its place, and not for ever.
 */
export const askContainer = (
  address: string,
  path: string,
  { ms, ...init }: RequestInit & { ms: number },
): Promise<Response> => fetch(address + path, { ...init, signal: AbortSignal.timeout(ms), redirect: 'error' });
