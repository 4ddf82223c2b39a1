import type { Decide } from './decide.ts';

/** What can be done with what was said. All of it stays the same while the conversation goes on. */
export interface TurnActions {
  agentId: string;
  sessionId: string;
  /** The agent is switched off: what was said is read, and nothing is begun. */
  isOff: boolean;
  onDecide: Decide;
  /** Says another thing instead of the message `seq`, in a branch. */
  onEdit: (seq: number, text: string, attachments: string[]) => void;
  onSwitch: (sessionId: string) => void;
  onOpen: (path: string) => void;
}
