import type { Decide } from './decide.ts';

/** What can be done with what was said. All of it stays the same while the conversation goes on. */
export interface TurnActions {
  agentId: string;
  sessionId: string;
  /** The agent is switched off: what was said is read, and nothing is begun. */
  isOff: boolean;
  onDecide: Decide;
  /** The model that answers where none is chosen. */
  answers: string;
  /**
   * Says another thing instead of the message `seq`, in a branch. `model`: which is to answer, null for the agent's own;
   * without it the one that is chosen for what is written next.
   */
  onEdit: (seq: number, text: string, attachments: string[], model?: string | null) => void;
  onSwitch: (sessionId: string) => void;
  onOpen: (path: string) => void;
}
