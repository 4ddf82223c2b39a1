import { normalEmail, type Accounts } from '@troupe/accounts';
import type { Database, SystemTx } from '@troupe/db';
import { AppError, createCipher, iso, newId, randomHex, sha256Hex, type Clock, type User } from '@troupe/kernel';
import type { MailRoom } from '../../platform/mail.ts';
import { looksInjected } from './injection.ts';
import { countInvites, findInvite, insertInvite, listInvites, lockUser, takeInvite, type InviteRow } from './store.ts';

interface InviteItem {
  code: string;
  email: string | null;
  name: string | null;
  createdAt: string;
  expiresAt: string;
  usedAt?: string;
  status: 'active' | 'used' | 'expired';
  userId?: string;
}

interface InviteDeps {
  db: Database;
  accounts: Accounts;
  mail: MailRoom;
  clock: Clock;
  walletKey: string;
  /** Public address of web. */
  baseUrl: string;
}

const LIFE_MS = 14 * 86_400_000;
const MOST_OPEN = 20;

function refuse(row: InviteRow | undefined): never {
  if (row?.used_at) throw new AppError(410, 'Invite has already been used');
  throw new AppError(404, 'Invalid or expired invite');
}

const hashOf = (token: string) => sha256Hex(token.toLowerCase());

function createMaking({ accounts, clock }: InviteDeps, cipher: ReturnType<typeof createCipher>) {
  async function make(
    tx: SystemTx,
    user: User,
    fields: { name?: string; email?: string },
    ip: string,
  ): Promise<{ id: string; token: string }> {
    if (!(await lockUser(tx, user.id))) throw new AppError(404, 'User not found');
    const now = clock();
    if (!user.isAdmin && (await countInvites(tx, { now, openOf: user.id })) >= MOST_OPEN)
      throw new AppError(429, `Too many open invites (max ${MOST_OPEN})`);
    const id = newId();
    const token = randomHex(32);
    await insertInvite(tx, {
      id,
      user_id: user.id,
      token_hash: sha256Hex(token),
      token_sealed: cipher.seal(token, id),
      by_admin: user.isAdmin,
      ...fields,
      created_at: now,
      expires_at: new Date(now.getTime() + LIFE_MS),
    });
    await accounts.audit(tx, { userId: user.id, action: 'invite-created', detail: { id, ...fields }, ip });
    return { id, token };
  }

  return make;
}

/** Invites by link and by mail. */
function inviting({ db, mail }: InviteDeps, urlOf: (token: string) => string, make: ReturnType<typeof createMaking>) {
  return {
    async create(user: User, name: string, ip: string): Promise<{ success: true; inviteUrl: string; token: string }> {
      if (looksInjected(name)) throw new AppError(400, 'Invalid name');
      const { token } = await db.asSystem((tx) => make(tx, user, { name }, ip));
      return { success: true, inviteUrl: urlOf(token), token };
    },
    async mailOne(
      user: User,
      given: string,
      ip: string,
    ): Promise<{ success: true; code: string; email: string; inviteUrl: string }> {
      const email = normalEmail(given);
      const token = await db.asSystem(async (tx) => {
        const made = await make(tx, user, { email }, ip);
        await mail.post(tx, 'invite', { email, id: made.id }, user.id);
        return made.token;
      });
      return { success: true, code: token, email, inviteUrl: urlOf(token) };
    },
  };
}

export type Invites = ReturnType<typeof createInvites>;

export function createInvites(deps: InviteDeps) {
  const { db, mail, clock, walletKey, baseUrl } = deps;
  const cipher = createCipher(walletKey, 'invites');
  const urlOf = (token: string) => `${baseUrl}/invite?token=${token}`;
  const isOver = (row: { expires_at: Date }) => row.expires_at.getTime() <= clock().getTime();

  const make = createMaking(deps, cipher);

  async function compose({ email, id }: { email: string; id: string }) {
    const row = await findInvite(db.system, { id });
    if (!row || row.used_at || isOver(row)) return null;
    const link = urlOf(cipher.open(row.token_sealed, row.id));
    return {
      to: email,
      subject: 'You are invited',
      text: `Hello,\n\nyou are invited. Open this link within 14 days to create your account:\n\n${link}\n`,
      link,
    };
  }
  mail.define('invite', compose, 'news');

  return {
    ...inviting(deps, urlOf, make),
    async verify(token: string): Promise<{ valid: true; plan: 'solo' }> {
      const row = await findInvite(db.system, { hash: hashOf(token) });
      if (!row || row.used_at || isOver(row)) refuse(row);
      return { valid: true, plan: 'solo' };
    },
    async list(): Promise<{ invites: InviteItem[]; total: number; active: number }> {
      const now = clock();
      const [rows, total, active] = await Promise.all([
        listInvites(db.system),
        countInvites(db.system, {}),
        countInvites(db.system, { now }),
      ]);
      return {
        invites: rows.map((row) => ({
          code: cipher.open(row.token_sealed, row.id),
          email: row.email,
          name: row.name,
          createdAt: iso(row.created_at),
          expiresAt: iso(row.expires_at),
          status: row.used_at ? 'used' : isOver(row) ? 'expired' : 'active',
          ...(row.used_at ? { usedAt: iso(row.used_at) } : {}),
          ...(row.used_by ? { userId: row.used_by } : {}),
        })),
        total,
        active,
      };
    },
    /** Part of a registration: of two at once one gets it, and the other nobody. */
    async consume(tx: SystemTx, token: string, newUserId: string): Promise<{ userId: string; byAdmin: boolean }> {
      const hash = hashOf(token);
      const taken = await takeInvite(tx, hash, newUserId, clock());
      return taken ?? refuse(await findInvite(tx, { hash }));
    },
  };
}
