import type { Question } from '../session/events.ts';

/** What waits for the owner's word. A part of every store. */

/** Approvals in a page, unless said. */
export const APPROVALS_SHOWN = 100;
/** How far back calls are looked for that were asked about, and what is read of each. */
export const ASKED_LOOKED_AT = 500;
export const ASKED_CHARACTERS = 20_000;

export interface PendingApproval {
  approvalId: string;
  sessionId: string;
  callId: string;
  tool: string;
  args: string;
  /** Words are asked for, not consent. */
  question?: Question;
  requestedAt: string;
}

export interface ApprovalStore {
  /** The oldest first; `limit` of them, or fewer where they are large. */
  pendingApprovals: (page?: { limit: number; offset: number }) => Promise<PendingApproval[]>;
  /** What the calls said about which it asked lately with this tool, the newest first. */
  askedLately: (tool: string, limit: number) => Promise<string[]>;
  /** Once only: `decided` when somebody was faster. */
  decide: (
    approvalId: string,
    approved: boolean,
    by: string,
    answer?: string,
  ) => Promise<{ sessionId: string } | 'unknown' | 'decided'>;
}
