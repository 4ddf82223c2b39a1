import { createHash } from 'node:crypto';
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

const hash = (token: string): string => createHash('sha256').update(token).digest('hex');
const sessions = new Map([[hash(TOKEN), USER.id]]);

/** Who a session's token belongs to; the same work on both sides. */
export const userOf = (token: string): string | null => sessions.get(hash(token)) ?? null;
