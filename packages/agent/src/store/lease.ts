/** For how long something is one process's alone. */
export interface Lease {
  owner: string;
  ttlMs: number;
}
