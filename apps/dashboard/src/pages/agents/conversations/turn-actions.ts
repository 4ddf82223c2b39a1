import type { Decide } from './decide.ts';

/** What can be done with what was said. All of it stays the same while the conversation goes on. */
export interface TurnActions {
  agentId: string;
  sessionId: string;
  onDecide: Decide;
  /** Says another thing instead of the message `seq`, in a branch. */
  onEdit: (seq: number, text: string, attachments: string[]) => void;
  onSwitch: (sessionId: string) => void;
  onOpen: (path: string) => void;
}
