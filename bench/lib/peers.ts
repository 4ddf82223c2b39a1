/**
 * Another product that we are measured against, from bench/package.json. The name is no literal on purpose: checks must
 * pass on a machine where nobody has installed the peers.
 */
export const peer = async <T>(name: string): Promise<T> => (await import(name)) as T;
