import type { AppError } from '@troupe/kernel';
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
  /** Moves the money; a PaymentProblem when it did not, or when nobody knows. */
  pay: (member: Member, payment: AgentPayment) => Promise<Json>;
  close: () => Promise<void>;
}

/** `failed`: certainly nothing was paid; `unknown`: perhaps it was. */
export class PaymentProblem extends Error {
  override readonly name = 'PaymentProblem';
  readonly outcome: 'failed' | 'unknown';
  /** What the caller is told. */
  readonly answer: AppError;

  constructor(outcome: 'failed' | 'unknown', answer: AppError) {
    super(answer.message, { cause: answer });
    this.outcome = outcome;
    this.answer = answer;
  }
}
