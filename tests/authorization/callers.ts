import { identityHeaders } from '@troupe/kernel';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import type { Target } from './targets.ts';
import type { World } from './world.ts';

/** Who a caller is to the thing that it asks for. */
type Standing =
  | 'nobody'
  | 'user'
  | 'admin'
  /** of the agent that is asked */
  | 'agentOwner'
  /** the internal key, for nobody */
  | 'platform'
  /** the internal key, for somebody else than the owner */
  | 'platformForUser';

export interface Caller {
  name: string;
  headers: Record<string, string>;
  standing: (target: Target) => Standing;
  /** Left out: everything is asked. */
  asks?: (target: Target) => boolean;
  /** What is asked for: `mixed` are the owner's things in the caller's own agent. Left out: all that the owner has. */
  what?: 'mixed' | 'withHeads';
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const always = (standing: Standing) => () => standing;

export async function callersOf({ owner, ids, stranger, admin, deadKeys, cookieOf }: World): Promise<Caller[]> {
  const forged = {
    'x-user-id': ids.userId,
    'x-user-email': ids.email,
    'x-user-role': 'admin',
    'x-user-plan': 'network',
    'x-client-ip': '127.0.0.1',
    'x-billing-subscription-id': 'sub_1',
    'x-user-signature': `${Date.now()}.${'ab'.repeat(32)}`,
  };
  const old = new Date(Date.now() - 6 * 60_000);
  const stale = identityHeaders(TEST_SECRETS.sessionSecret, { id: ids.userId, email: ids.email, isAdmin: true }, old);
  const own = { 'x-user-id': stranger.id, 'x-user-email': stranger.email, 'x-user-plan': 'network' };
  const nobody = (name: string, headers: Record<string, string>): Caller => ({
    name,
    headers,
    standing: always('nobody'),
  });
  const user = (name: string, headers: Record<string, string>): Caller => ({ name, headers, standing: always('user') });
  /** The cookie alone opens these. */
  const byKey = (name: string, headers: Record<string, string>): Caller => ({
    name,
    headers,
    standing: ({ auth }) => (auth === 'cookie' ? 'nobody' : 'user'),
  });
  const atGateway = (target: Target): boolean => target.auth === 'gateway';
  const internal = bearer(TEST_SECRETS.internalKey);
  return [
    { ...nobody('anonymous', {}), what: 'withHeads' },
    nobody('forged identity headers', forged),
    nobody("the owner's signed headers, six minutes later", stale),
    { ...user('another user', { cookie: await cookieOf(stranger) }), what: 'withHeads' },
    { ...user('another user in the own agent', { cookie: await cookieOf(stranger) }), what: 'mixed' },
    {
      name: 'the internal key for another user in the own agent',
      headers: {
        ...internal,
        ...own,
      },
      what: 'mixed',
      standing: always('platformForUser'),
    },
    {
      name: 'the own agent’s gateway token',
      headers: bearer(stranger.gatewayToken),
      what: 'mixed',
      asks: atGateway,
      standing: always('agentOwner'),
    },
    user('another user with forged headers', { cookie: await cookieOf(stranger), ...forged }),
    byKey("another user's key", bearer(stranger.key)),
    byKey("another user's key with forged headers", { ...bearer(stranger.key), ...forged }),
    {
      name: "the owner's key where only the cookie counts",
      headers: bearer(owner.key),
      standing: always('nobody'),
      asks: ({ auth }) => auth === 'cookie',
    },
    { name: 'an administrator', headers: { cookie: await cookieOf(admin) }, standing: always('admin') },
    {
      name: "an administrator's key",
      headers: bearer(admin.key),
      standing: ({ auth }) => (auth === 'cookie' ? 'nobody' : 'admin'),
    },
    nobody('a wrong internal key', bearer(`${TEST_SECRETS.internalKey}x`)),
    nobody('a wrong internal key with forged headers', { ...bearer('wrong'), ...forged }),
    { name: 'the internal key for nobody', headers: internal, standing: always('platform') },
    {
      name: 'the internal key for another user',
      headers: { ...internal, ...own },
      standing: always('platformForUser'),
    },
    nobody("the owner's session that has ended", { cookie: owner.expiredCookie }),
    nobody('a session that never was', { cookie: `svc-session=${'0'.repeat(64)}` }),
    nobody('a key that never was', bearer(deadKeys.unknown)),
    nobody('a key whose user was deleted', bearer(deadKeys.userGone)),
    nobody("another agent's gateway token", bearer(stranger.gatewayToken)),
    {
      name: "another agent's key",
      headers: bearer(`sk_${stranger.gatewayToken}`),
      standing: ({ auth }) => (auth === 'internalOrKey' ? 'user' : 'nobody'),
    },
    nobody("another agent's ticket", bearer(stranger.ticket)),
    nobody("another agent's device", bearer(stranger.deviceToken)),
    nobody('a member of another team', bearer(stranger.memberToken)),
    { ...nobody('a user’s key at an agent', bearer(stranger.key)), asks: atGateway },
    // Below /v1, at /mcp, /a2a and /ag-ui it is the owner's right, in conversations of its own.
    {
      ...nobody("the owner's key at the agent", bearer(owner.key)),
      asks: (target) => atGateway(target) && !/\/v1\/(?!team-store)|\/(mcp|a2a|ag-ui)$/.test(target.url),
    },
  ];
}
