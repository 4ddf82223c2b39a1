/** Every limit on how often a path may be called. Attached to routes by path. */
export interface RateRule {
  name: string;
  service: 'web' | 'backend';
  /** An exact path, or a prefix when it ends in `/*`; `/x/*` also covers `/x`. */
  path: string;
  /**
   * Whom it counts. Unless said: the account of whoever shows a valid session or key, and the address of everybody else.
   * `user`: only who showed a key, an agent by itself. The internal key is nobody's.
   */
  per?: 'address' | 'user';
  /** Any method unless said. */
  method?: string;
  limit: number;
  seconds: number;
  message: string;
}

const MINUTE = 60;
const HOUR = 3600;
const SLOW_DOWN = 'Too many requests';

/** What lets people in: it hashes a password or sends a mail. Enough for an office behind one address. */
const door = (path: string): RateRule[] => [
  { name: `${path}/minute`, service: 'web', path, method: 'POST', limit: 60, seconds: MINUTE, message: SLOW_DOWN },
  { name: `${path}/hour`, service: 'web', path, method: 'POST', limit: 1000, seconds: HOUR, message: SLOW_DOWN },
];

/** What leaves something behind with each call: an entry of the audit log, a version, a row. People never come near it. */
const CHANGES = [
  'authorizations',
  'keys',
  'model-keys',
  'settings',
  'invites',
  'devices',
  'scheduled-tasks',
  'config',
  'memory',
  'heartbeat',
  'usage',
];
const changes = (area: string): RateRule[] =>
  ['POST', 'PUT', 'PATCH', 'DELETE'].map((method) => ({
    name: `change ${area}`,
    service: 'web',
    path: `/api/${area}/*`,
    method,
    limit: 240,
    seconds: MINUTE,
    message: SLOW_DOWN,
  }));

export const RATE_RULES: readonly RateRule[] = [
  // Whoever shows no valid secret is known by address alone; who does is counted by trigger.
  { name: 'hooks', service: 'web', path: '/api/hooks/*', limit: 1200, seconds: MINUTE, message: SLOW_DOWN },
  // Up to two megabytes each, for anybody.
  { name: 'shared', service: 'web', path: '/api/shared/*', limit: 120, seconds: MINUTE, message: SLOW_DOWN },
  // Visitors of one office share an address; each visitor and each widget is counted besides.
  { name: 'widgets', service: 'web', path: '/api/widgets/*', limit: 600, seconds: MINUTE, message: SLOW_DOWN },
  {
    name: 'backend',
    service: 'backend',
    path: '/api/*',
    limit: 120,
    seconds: MINUTE,
    message: 'Too many requests, please slow down.',
  },
  { name: 'ai', service: 'backend', path: '/api/ai/*', limit: 30, seconds: MINUTE, message: 'AI rate limit exceeded.' },
  // The contract has no number for it. Agents in containers share an address, so it counts who shows a key.
  {
    name: 'v1',
    service: 'backend',
    path: '/v1/*',
    per: 'user',
    limit: 600,
    seconds: MINUTE,
    message: 'AI rate limit exceeded.',
  },
  {
    name: 'deployments',
    service: 'backend',
    path: '/api/deployments/*',
    method: 'POST',
    limit: 5,
    seconds: MINUTE,
    message: 'Deployment rate limit exceeded.',
  },
  // Several megabytes each, for anybody.
  { name: 'install', service: 'backend', path: '/install/*', limit: 60, seconds: MINUTE, message: SLOW_DOWN },
  { name: 'mcp', service: 'web', path: '/mcp', per: 'user', limit: 600, seconds: MINUTE, message: SLOW_DOWN },
  { name: 'gateway', service: 'web', path: '/api/v1/gateway', limit: 100, seconds: MINUTE, message: SLOW_DOWN },
  { name: 'agents', service: 'web', path: '/api/agents/*', limit: 100, seconds: MINUTE, message: SLOW_DOWN },
  { name: 'chat', service: 'web', path: '/api/chat', limit: 60, seconds: MINUTE, message: SLOW_DOWN },
  // Each asks a provider, with a key that somebody may be guessing.
  {
    name: 'model keys',
    service: 'web',
    path: '/api/model-keys/test',
    method: 'POST',
    limit: 20,
    seconds: MINUTE,
    message: SLOW_DOWN,
  },
  { name: 'say', service: 'web', path: '/api/say', per: 'user', limit: 20, seconds: MINUTE, message: SLOW_DOWN },
  {
    name: 'compare',
    service: 'web',
    path: '/api/compare',
    per: 'user',
    limit: 20,
    seconds: MINUTE,
    message: SLOW_DOWN,
  },
  { name: 'instance', service: 'web', path: '/api/instance/*', limit: 30, seconds: MINUTE, message: SLOW_DOWN },
  {
    name: 'provision',
    service: 'web',
    path: '/api/provision/*',
    method: 'POST',
    limit: 5,
    seconds: MINUTE,
    message: SLOW_DOWN,
  },
  {
    name: 'demo',
    service: 'web',
    path: '/api/demo/chat',
    method: 'POST',
    limit: 10,
    seconds: MINUTE,
    message: SLOW_DOWN,
  },
  ...CHANGES.flatMap(changes),
  // Each leaves a row for ten minutes.
  { name: 'nonce/minute', service: 'web', path: '/api/auth/nonce', limit: 60, seconds: MINUTE, message: SLOW_DOWN },
  { name: 'nonce/hour', service: 'web', path: '/api/auth/nonce', limit: 1000, seconds: HOUR, message: SLOW_DOWN },
  // Each of these asks a chain or another server.
  { name: 'wallet-auth', service: 'web', path: '/api/wallet-auth', limit: 60, seconds: MINUTE, message: SLOW_DOWN },
  {
    name: 'federated',
    service: 'web',
    path: '/api/auth/federated/verify',
    method: 'POST',
    limit: 60,
    seconds: MINUTE,
    message: SLOW_DOWN,
  },
  {
    name: 'token-gating',
    service: 'web',
    path: '/api/auth/token-gating/verify',
    limit: 60,
    seconds: MINUTE,
    message: SLOW_DOWN,
  },
  {
    name: 'oauth-register',
    service: 'web',
    path: '/oauth/register',
    method: 'POST',
    limit: 30,
    seconds: MINUTE,
    message: SLOW_DOWN,
  },
  // It may fetch whatever address the asking program is said to be described at.
  {
    name: 'authorization request',
    service: 'web',
    path: '/api/authorizations/request',
    limit: 60,
    seconds: MINUTE,
    message: SLOW_DOWN,
  },
  // A program that was let in is remembered for a long time.
  {
    name: 'authorization',
    service: 'web',
    path: '/api/authorizations',
    method: 'POST',
    limit: 60,
    seconds: HOUR,
    message: SLOW_DOWN,
  },
  { name: 'oauth', service: 'web', path: '/oauth/*', method: 'POST', limit: 300, seconds: MINUTE, message: SLOW_DOWN },
  ...door('/api/auth/login'),
  ...door('/api/auth/second-step'),
  ...door('/api/auth/second-step/passkey'),
  ...door('/api/auth/passkey'),
  ...door('/api/auth/passkey/options'),
  ...door('/api/register'),
  ...door('/api/auth/forgot-password'),
  ...door('/api/auth/reset-password'),
  ...door('/api/auth/verify-email/resend'),
  // It may fetch an address, and keeps megabytes.
  {
    name: 'skills',
    service: 'web',
    path: '/api/skills/reviews/*',
    method: 'POST',
    limit: 120,
    seconds: MINUTE,
    message: SLOW_DOWN,
  },
  {
    name: 'password',
    service: 'web',
    path: '/api/settings/password',
    per: 'user',
    limit: 20,
    seconds: MINUTE,
    message: SLOW_DOWN,
  },
  {
    name: 'export',
    service: 'web',
    path: '/api/account/export',
    per: 'user',
    limit: 10,
    seconds: HOUR,
    message: SLOW_DOWN,
  },
  {
    name: 'confirm',
    service: 'web',
    path: '/api/auth/confirm/*',
    per: 'user',
    limit: 20,
    seconds: MINUTE,
    message: SLOW_DOWN,
  },
];

export function rulesFor(
  service: string,
  method: string,
  path: string,
  rules: readonly RateRule[] = RATE_RULES,
): RateRule[] {
  return rules.filter(
    (rule) => rule.service === service && (rule.method ?? method) === method && covers(rule.path, path),
  );
}

function covers(pattern: string, path: string): boolean {
  if (!pattern.endsWith('/*')) return pattern === path;
  const base = pattern.slice(0, -2);
  return path === base || path.startsWith(`${base}/`);
}
