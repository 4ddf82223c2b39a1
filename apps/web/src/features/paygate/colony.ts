import type { AgentPayment } from '../policy/service.ts';

/** Who serves the payment gateway: an upstream, or the platform itself. Answers go to the caller as they are. */

export type Json = Record<string, unknown>;

export interface Member {
  userId: string;
  agentId: string;
}

export interface Colony {
  gateway: 'upstream' | 'built-in';
  health: () => Promise<Json>;
  join: (member: Member, walletAddress: string) => Promise<Json>;
  fitness: (member: Member) => Promise<Json>;
  pricing: (member: Member) => Promise<Json>;
  endpoints: () => Promise<Json>;
  /** Moves the money and says `paid`; a PaymentFailed when it certainly did not move. */
  pay: (member: Member, payment: AgentPayment) => Promise<Json>;
  close: () => Promise<void>;
}

/** Nothing was paid. Anything else that goes wrong leaves it open, and the payment counted. */
export class PaymentFailed extends Error {
  override readonly name = 'PaymentFailed';
  /** What the caller is told. */
  readonly answer: Error;

  constructor(answer: Error) {
    super(answer.message, { cause: answer });
    this.answer = answer;
  }
}
