/** Who works on something, and for how long unless it says so again. */
export interface Lease {
  owner: string;
  ttlMs: number;
}
