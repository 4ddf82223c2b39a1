import type { Auth } from '@troupe/contract';
import type { SubscriptionStatus } from '@troupe/domain';

/** A user as every service knows one. */
export interface User {
  id: string;
  email: string;
  name: string;
  isAdmin: boolean;
  emailVerified: boolean;
  plan: string | null;
  subscriptionStatus: SubscriptionStatus;
  /** The session that the request came with; null when it came with an API key. */
  sessionId: string | null;
  /** The API key that it came with instead. */
  keyId?: string;
  /** Pages that may use that key from a browser. */
  origins?: readonly string[];
  /** What a program was given that came with an access token; undefined: all that the user may. */
  scopes?: readonly string[];
  /** What its owner gave it with. */
  grantId?: string;
  /** Whom a limit of a user counts; the user unless said. */
  countedAs?: string;
  /** Whom the platform says that the request counts for in limits by address, here and where it leads to. */
  toldAs?: string;
}

/** Who the user-context headers name; vouched for by the internal key. */
export interface ContextUser {
  id: string;
  email: string;
}

/** Who identity headers name, as far as they are believed. */
export interface Identity {
  id: string;
  email: string | null;
  role: string | null;
  /** False: nobody vouches for it, and `id` is `anonymous` or what the loopback rule lets pass. */
  verified: boolean;
  /** The caller showed an API key of that user. */
  byKey: boolean;
}

export interface Principals {
  none: undefined;
  session: User;
  cookie: User;
  optional: User | null;
  admin: User;
  internal: undefined;
  /** null: the internal key. */
  internalOrKey: User | null;
  client: User;
  userContext: ContextUser;
  identity: Identity;
}

export type PrincipalOf<A extends Auth> = Principals[A];

/** Looks people up. Accounts provide it; a service without users has none. */
export interface Authenticator {
  bySession: (token: string) => Promise<User | null>;
  byKey: (key: string) => Promise<User | null>;
  /** Whom a program works for that shows this access token; it opens the platform's own resource alone. */
  byAccessToken?: (token: string) => Promise<User | null>;
  /** The owner of an agent that came with a key of its own; it opens only what is for the internal key or a key. */
  byAgentKey?: (
    key: string,
    request: { headers: Record<string, string | string[] | undefined> },
  ) => Promise<User | null>;
}
