import { hash } from 'node:crypto';
import type { User } from '@troupe/kernel';

export const POOL = 10;
/** Users, each with a session: most of the time all requests are the first one's. */
export const USERS = 32;
export const tokenOf = (user: number): string => user.toString(16).padStart(64, 'a');
export const TOKEN = tokenOf(0);
export const idOf = (user: number): string => `bench-user-${user}`;
export const USER: User = {
  id: idOf(0),
  email: 'bench@example.org',
  name: 'bench',
  isAdmin: false,
  emailVerified: true,
  plan: 'solo',
  subscriptionStatus: 'active',
  sessionId: 'bench-session',
};

const digest = (token: string): string => hash('sha256', token, 'hex');
const sessions = new Map(Array.from({ length: USERS }, (_, user) => [digest(tokenOf(user)), idOf(user)]));

/** Who a session's token belongs to; the same work on both sides. */
export const userOf = (token: string): string | null => sessions.get(digest(token)) ?? null;
