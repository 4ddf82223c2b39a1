export { createAccounts, type Accounts, type AccountsDeps } from './accounts.ts';
export type { Audit, AuditEntry, Tx } from './audit.ts';
export type { Credits } from './credits.ts';
export type { Link, LinkProvider, Links, ProviderTokens } from './links.ts';
export { ensureOwner, type Owner } from './owner.ts';
export { createPasswords, type Passwords } from './passwords.ts';
export type { CodeCheck, SecondFactors, StepMethod } from './second-factors.ts';
export {
  STEP_COOKIE,
  type Entry,
  type OpenStep,
  type Origin,
  type OwedStep,
  type Sessions,
  type SignInMethod,
} from './sessions.ts';
export { createStreams, type Stream, type Streams } from './streams.ts';
export { base32, codeOf, periodOf } from './totp.ts';
export type { Confirmation } from './confirmation.ts';
export { USER_COLUMNS, type Reader, type UserRow } from './user.ts';
export { normalEmail, type NewUser, type PlanChange, type Users } from './users.ts';
export { RESET_LIFE_MS, VERIFICATION_LIFE_MS, type Verification } from './verification.ts';
export { raiseNotice, settleNotice, type NewNotice } from './notices.ts';
