import { z } from 'zod';
import { timestamp } from '../../common.ts';
import { AGENT_NOT_FOUND } from '../fields.ts';

/** Messaging channels of an agent: set, tried, changed and removed by its owner at any time. */

export const CHANNEL_KINDS = ['telegram', 'slack', 'email', 'discord', 'whatsapp'] as const;
export type ChannelKind = (typeof CHANNEL_KINDS)[number];

/** Under which name an agent's configuration has them; three have had one since before there were others. */
export const CHANNEL_NAMES: Readonly<Record<ChannelKind, string>> = {
  telegram: 'channelA',
  whatsapp: 'channelB',
  discord: 'channelC',
  slack: 'slack',
  email: 'email',
};

export interface ChannelField {
  name: string;
  /** Kept sealed, and never shown again. */
  isSecret?: true;
  isRequired?: true;
  choices?: readonly string[];
}

const SECURITIES = ['tls', 'starttls', 'none'] as const;
const token: ChannelField = { name: 'token', isSecret: true, isRequired: true };

/** What is entered for each. */
export const CHANNEL_FIELDS: Readonly<Record<ChannelKind, readonly ChannelField[]>> = {
  telegram: [token],
  slack: [
    { name: 'botToken', isSecret: true, isRequired: true },
    { name: 'appToken', isSecret: true },
    { name: 'signingSecret', isSecret: true },
  ],
  email: [
    { name: 'address', isRequired: true },
    { name: 'user' },
    { name: 'password', isSecret: true, isRequired: true },
    { name: 'smtpHost', isRequired: true },
    { name: 'smtpPort' },
    { name: 'smtpSecurity', choices: SECURITIES },
    { name: 'imapHost' },
    { name: 'imapPort' },
    { name: 'imapSecurity', choices: SECURITIES },
  ],
  discord: [token],
  whatsapp: [token, { name: 'appSecret', isSecret: true, isRequired: true }, { name: 'phoneNumberId' }],
};

const kind = z.enum(CHANNEL_KINDS);
const ofAgent = z.object({ id: z.string() });
const ofChannel = z.object({ id: z.string(), kind });

const given = z.object({
  settings: z
    .record(z.string().max(40), z.string().trim().max(1000))
    .describe('By name, as the channel’s fields say. One that is left out stays as it is; an empty one is removed'),
  allowed: z
    .array(z.string().trim().min(1).max(200))
    .max(200)
    .optional()
    .describe(
      'Who may write, by the service’s own ids; by mail: addresses, `@domain`, or `*`. Empty: everybody, by mail nobody',
    ),
});

const channel = z.object({
  kind,
  isSet: z.boolean(),
  settings: z.record(z.string(), z.string()).describe('What is no secret'),
  secrets: z.array(z.string()).describe('Names of those that are set'),
  allowed: z.array(z.string()),
  webhook: z.string().nullable().describe('Where the service has to call; null: it need not'),
  state: z
    .enum(['off', 'starting', 'listening', 'failed', 'refused', 'elsewhere'])
    .describe('`elsewhere`: the agent runs in a program of its own, which takes it over at its next start'),
  error: z.string().nullable().describe('What its owner has to set right'),
  at: timestamp.nullable(),
});
export type AgentChannel = z.output<typeof channel>;

const receipt = z.object({
  channel: z.string(),
  id: z.string(),
  sender: z.string(),
  chat: z.string(),
  state: z.enum(['waiting', 'answered', 'failed', 'ignored']),
  note: z.string().nullable(),
  tries: z.number(),
  receivedAt: timestamp,
  doneAt: timestamp.nullable(),
});
export type ChannelReceipt = z.output<typeof receipt>;

const UNKNOWN_SETTING = 'Unknown setting: <name>';
const MISSING_SETTING = 'Missing setting: <name>';
const NOT_SET = 'This channel is not set';
const errors = { 404: [AGENT_NOT_FOUND, 'Not found'] };
const bad = [
  UNKNOWN_SETTING,
  MISSING_SETTING,
  'Slack needs an app token (Socket Mode) or a signing secret (Events API)',
  'That is no mail address',
  'A port is a number from 1 to 65535',
  '<name> must be one of <choices>',
  'Invalid request body',
];

const PATH = '/api/agents/:id/channels';

/** What web offers, and the backend behind it. */
export const CHANNEL_ROUTES = {
  list: {
    method: 'GET',
    path: PATH,
    summary: 'Channels of an agent, how they are, and what came in lately',
    params: ofAgent,
    reply: z.object({ channels: z.array(channel), receipts: z.array(receipt) }),
    errors,
  },
  set: {
    method: 'PUT',
    path: `${PATH}/:kind`,
    summary: 'Set or change a channel; it counts at once, and in a container from the next start on',
    params: ofChannel,
    body: given,
    reply: z.object({ channel }),
    errors: { ...errors, 400: bad },
  },
  remove: {
    method: 'DELETE',
    path: `${PATH}/:kind`,
    summary: 'Remove a channel, and what opened it',
    params: ofChannel,
    reply: z.object({ success: z.literal(true) }),
    errors,
  },
  test: {
    method: 'POST',
    path: `${PATH}/:kind/test`,
    summary: 'Try a channel now; with `to`, somebody there gets a message',
    params: ofChannel,
    body: z.object({
      to: z
        .string()
        .trim()
        .min(1)
        .max(254)
        .optional()
        .describe('A chat, channel, number or address, as the service names it'),
    }),
    reply: z.object({
      ok: z.boolean(),
      account: z.string().nullable().describe('Who the agent is there'),
      error: z.string().nullable(),
    }),
    errors: { 400: ['Invalid request body'], 404: [...errors[404], NOT_SET] },
  },
} as const;
