/** Where a command works, and whose it is. What is in it is asked before, while and after the command runs. */
export interface Quarters {
  readonly root: string;
  readonly owner: string;
  room: () => Promise<Room>;
}

/** What is in a workspace, and what may come. */
export interface Room {
  bytes: number;
  entries: number;
  freeBytes: number;
  /** Why nothing more may be written; undefined: there is room. */
  full?: string;
  /** It is so full, or so well hidden, that nobody could tell whether a command only removes something. */
  shut: boolean;
}
