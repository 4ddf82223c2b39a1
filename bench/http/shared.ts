import { hash } from 'node:crypto';
import type { User } from '@troupe/kernel';

export const POOL = 10;
export const TOKEN = 'a'.repeat(64);
export const USER: User = {
  id: 'bench-user',
  email: 'bench@example.org',
  name: 'bench',
  isAdmin: false,
  emailVerified: true,
  plan: 'solo',
  subscriptionStatus: 'active',
  sessionId: 'bench-session',
};

const digest = (token: string): string => hash('sha256', token, 'hex');
const sessions = new Map([[digest(TOKEN), USER.id]]);

/** Who a session's token belongs to; the same work on both sides. */
export const userOf = (token: string): string | null => sessions.get(digest(token)) ?? null;
