import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

const risc = { service: 'web', tag: 'Security events', auth: 'none' } as const;

const PREFIX = 'https://schemas.openid.net/secevent';

export const SECURITY_EVENTS = {
  accountDisabled: `${PREFIX}/risc/event-type/account-disabled`,
  accountEnabled: `${PREFIX}/risc/event-type/account-enabled`,
  sessionsRevoked: `${PREFIX}/risc/event-type/sessions-revoked`,
  tokensRevoked: `${PREFIX}/oauth/event-type/tokens-revoked`,
  credentialChange: `${PREFIX}/risc/event-type/account-credential-change-required`,
  verification: `${PREFIX}/risc/event-type/verification`,
} as const;

const errors = { 400: ['Empty body', 'Invalid token'], 503: ['Signing keys unavailable'] };

export const getHealth = endpoint({
  ...risc,
  method: 'GET',
  path: '/api/security/risc',
  summary: 'Whether the receiver of security events is up, and what it understands',
  reply: z.object({
    status: z.literal('ok'),
    endpoint: z.string(),
    description: z.string(),
    events_supported: z.array(z.string()),
  }),
});

export const receive = endpoint({
  ...risc,
  method: 'POST',
  path: '/api/security/risc',
  summary: 'Takes a signed security event token of the general identity provider; acted on once it is stored',
  rawBody: true,
  status: 202,
  errors,
});

export const receiveLegacy = endpoint({
  ...risc,
  method: 'POST',
  path: '/api/auth/idp2/risc',
  summary: 'The older receiver: knows people by their e-mail address alone. Use /api/security/risc',
  rawBody: true,
  reply: z.object({ received: z.literal(true) }),
  errors,
});
