import { z } from 'zod';
import { nullableTimestamp, success, timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { BUSY, needed, tooLong } from '../fields.ts';
import { GREETING_LENGTH, VISITOR_MESSAGE_LENGTH, WIDGET_TITLE_LENGTH } from '../forms.ts';
import * as gateway from './conversations/gateway.ts';
import { AGENT_NOT_FOUND } from './fields.ts';

/** Where customers of an owner talk to an agent: on pages of the owner's own, or on a page of ours. */

export const MOST_WIDGETS = 10;
const MOST_ORIGINS = 20;

const base = { service: 'web', tag: 'Widgets', auth: 'session' } as const;
const NOT_FOUND = 'Widget not found';
const VISITOR_NOT_FOUND = 'Visitor not found';
const TITLE = 'title required';
const GREETING = 'greeting required';
const COLOUR = 'colour must be six hexadecimal digits, such as #1f6f5c';
const SCHEME = 'scheme must be light, dark or auto';
const ORIGIN = 'origins must be addresses of sites without a path, such as https://shop.example';
const MANY_ORIGINS = `At most ${MOST_ORIGINS} origins`;
const ABILITIES = 'abilities must be answers or all';
const PER_HOUR = 'messagesPerHour must be a whole number from 1 to 1000';
const CAP = 'dailyCapUsd must be a number from 0.01 to 10000';
const DAYS = 'retentionDays must be a whole number from 1 to 365';
const LONG_MESSAGE = tooLong('Message', VISITOR_MESSAGE_LENGTH);

/** As browsers name a site. */
const isOrigin = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text;
};

const theme = {
  title: needed(TITLE).max(WIDGET_TITLE_LENGTH, tooLong('title', WIDGET_TITLE_LENGTH)),
  greeting: needed(GREETING).max(GREETING_LENGTH, tooLong('greeting', GREETING_LENGTH)),
  colour: z
    .string({ error: COLOUR })
    .regex(/^#[0-9a-f]{6}$/i, COLOUR)
    .toLowerCase(),
  scheme: z.enum(['light', 'dark', 'auto'], { error: SCHEME }),
};

const settings = {
  ...theme,
  enabled: z.boolean({ error: 'enabled must be true or false' }),
  hosted: z.boolean({ error: 'hosted must be true or false' }).describe('There is a page of its own for it'),
  origins: z
    .array(
      z
        .string({ error: ORIGIN })
        .trim()
        .max(300, ORIGIN)
        .transform((text) => text.toLowerCase().replace(/\/$/, ''))
        .refine(isOrigin, ORIGIN),
      { error: ORIGIN },
    )
    .max(MOST_ORIGINS, MANY_ORIGINS)
    .describe('Sites that may show it, as https://shop.example'),
  abilities: z
    .enum(['answers', 'all'], { error: ABILITIES })
    .describe('`answers`: words, documents and skills, no other tool and no memories. `all`: what the agent has'),
  handsOver: z.boolean({ error: 'handsOver must be true or false' }).describe('Visitors may ask for a person'),
  messagesPerHour: z.int(PER_HOUR).min(1, PER_HOUR).max(1000, PER_HOUR).describe('Of one visitor'),
  dailyCapUsd: z
    .number(CAP)
    .min(0.01, CAP)
    .max(10_000, CAP)
    .describe('What the answers of a day (UTC) may cost together'),
  retentionDays: z
    .int(DAYS)
    .min(1, DAYS)
    .max(365, DAYS)
    .describe('Conversations are deleted so long after the visitor was last there'),
};

const widget = z.object({
  id: z.string(),
  agentId: z.string(),
  publicKey: z.string().describe('Names the widget on pages that show it; no secret'),
  ...settings,
  address: z.string().describe('Its own page'),
  embed: z.string().describe('What a page needs to show it'),
  spentTodayUsd: z.number(),
  createdAt: timestamp,
});
export type Widget = z.output<typeof widget>;

export const WIDGET_DEFAULTS = {
  title: 'Chat',
  greeting: 'Hello! How can I help you?',
  colour: '#1f6f5c',
  scheme: 'auto',
  enabled: true,
  hosted: false,
  origins: [],
  abilities: 'answers',
  handsOver: true,
  messagesPerHour: 30,
  dailyCapUsd: 1,
  retentionDays: 30,
} as const satisfies { [K in keyof typeof settings]: z.input<(typeof settings)[K]> };

const given = z.object(settings).partial();
const errors = { 401: ['Unauthorized'], 404: [AGENT_NOT_FOUND] } as const;
const ofOne = { ...errors, 404: [AGENT_NOT_FOUND, NOT_FOUND] } as const;
const BAD = [TITLE, GREETING, COLOUR, SCHEME, ORIGIN, MANY_ORIGINS, ABILITIES, PER_HOUR, CAP, DAYS];
const ofAgent = { ...base, params: z.object({ id: z.string() }) };
const one = { ...base, params: z.object({ id: z.string(), widgetId: z.string() }) };

export const list = endpoint({
  ...ofAgent,
  method: 'GET',
  path: '/api/agents/:id/widgets',
  summary: 'The widgets of an agent',
  reply: z.object({ widgets: z.array(widget) }),
  errors,
});

export const create = endpoint({
  ...ofAgent,
  method: 'POST',
  path: '/api/agents/:id/widgets',
  summary: 'Make a widget; what is left out is as in the documentation',
  body: given,
  reply: z.object({ widget }),
  status: 201,
  errors: { ...errors, 400: BAD, 409: [`An agent has ${MOST_WIDGETS} widgets at most`] },
});

export const update = endpoint({
  ...one,
  method: 'PATCH',
  path: '/api/agents/:id/widgets/:widgetId',
  summary: 'Change a widget; switched off it ends for everybody at once',
  body: given,
  reply: z.object({ widget }),
  errors: { ...ofOne, 400: BAD },
});

export const rotate = endpoint({
  ...one,
  method: 'POST',
  path: '/api/agents/:id/widgets/:widgetId/rotate',
  summary: 'A new public key: pages with the old one and all its visitors are cut off at once',
  reply: z.object({ widget }),
  errors: ofOne,
});

export const remove = endpoint({
  ...one,
  method: 'DELETE',
  path: '/api/agents/:id/widgets/:widgetId',
  summary: 'Remove a widget with the conversations of its visitors',
  reply: success,
  errors: ofOne,
});

const visitorState = z.enum(['agent', 'waiting', 'person']).describe('Who answers: the agent, nobody yet, a person');
const visitor = z.object({
  id: z.string(),
  agentId: z.string(),
  widgetId: z.string(),
  widgetTitle: z.string(),
  sessionId: z.string().nullable().describe('The conversation, among those of the agent'),
  state: visitorState,
  waitingSince: nullableTimestamp,
  words: z.string().describe('What was said last by the visitor'),
  origin: z.string().describe('The site that it was said on'),
  seenAt: timestamp,
});
export type WidgetVisitor = z.output<typeof visitor>;

export const listVisitors = endpoint({
  ...ofAgent,
  method: 'GET',
  path: '/api/agents/:id/visitors',
  summary: 'The visitors of an agent’s widgets: those who wait for a person first, then the newest; 100 at most',
  reply: z.object({ visitors: z.array(visitor) }),
  errors,
});

const ofVisitor = { ...base, params: z.object({ id: z.string(), visitorId: z.string() }) };
const talking = {
  ...errors,
  404: [AGENT_NOT_FOUND, VISITOR_NOT_FOUND],
  409: ['This visitor has said nothing yet'],
  502: ['Agent backend unavailable', 'Agent is not running'],
};

export const reply = endpoint({
  ...ofVisitor,
  method: 'POST',
  path: '/api/agents/:id/visitors/:visitorId/reply',
  summary: 'Answer a visitor as a person, who sees it at once; the agent is silent until the visitor is given back',
  body: z.object({
    message: needed('Message required').max(VISITOR_MESSAGE_LENGTH, LONG_MESSAGE),
    id: z.string().min(1).max(100).optional().describe('The same message under the same id is taken once'),
  }),
  reply: z.object({ visitor }),
  errors: { ...talking, 400: ['Message required', LONG_MESSAGE] },
  passesOn: () => [gateway.note],
});

export const giveBack = endpoint({
  ...ofVisitor,
  method: 'POST',
  path: '/api/agents/:id/visitors/:visitorId/return',
  summary: 'Let the agent answer a visitor again',
  reply: z.object({ visitor }),
  errors: talking,
  passesOn: () => [gateway.note],
});

/** What visitors call, from whichever page the owner allows. The service itself says which. */
const open = { ...base, auth: 'none', pages: 'checked' } as const;
const byKey = z.object({ key: z.string() });
export const WIDGET_GONE = 'This chat is not available';
const FOREIGN = 'This site may not show the chat';
const TOKEN = 'The visitor’s token does not count: ask for a new one';
const SLOWLY = 'Too many messages. Please wait a little.';
const NOT_NOW = 'Nobody can answer at the moment. Please try again later.';
const visiting = {
  401: [TOKEN],
  403: [FOREIGN],
  404: [WIDGET_GONE],
  429: [SLOWLY, 'Too many requests'],
  503: [BUSY, NOT_NOW],
} as const;
/** A visitor's message and what stands around it; no character takes more than twelve bytes of JSON. */
const BODY_BYTES = 64 * 1024;

export const visit = endpoint({
  ...open,
  method: 'POST',
  path: '/api/widgets/:key/visitors',
  summary: 'A token for a visitor, and how the widget looks. Whoever shows a token that counts stays who they are',
  params: byKey,
  body: z.object({ token: z.string().max(300).optional() }),
  bodyLimit: BODY_BYTES,
  reply: z.object({
    token: z.string().describe('Shown as bearer'),
    expiresAt: timestamp,
    theme: z.object(theme),
    handsOver: z.boolean(),
    state: visitorState,
    hasTalked: z.boolean().describe('There is a conversation to follow'),
  }),
  errors: { 403: visiting[403], 404: visiting[404], 429: visiting[429], 503: [BUSY] },
});

export const say = endpoint({
  ...open,
  method: 'POST',
  path: '/api/widgets/:key/messages',
  summary: 'Say something as a visitor; the answer comes over the events',
  params: byKey,
  body: z.object({
    message: needed('Message required').max(VISITOR_MESSAGE_LENGTH, LONG_MESSAGE),
    id: z
      .string()
      .regex(/^[\w-]{1,64}$/, 'id must be letters, digits and dashes')
      .optional()
      .describe('The same message under the same id is taken once'),
  }),
  bodyLimit: BODY_BYTES,
  reply: z.object({
    state: z.enum(['agent', 'waiting', 'person', 'closed']).describe('closed: today’s answers are used up'),
    text: z.string().nullable().describe('To be shown in place of an answer'),
  }),
  status: 202,
  errors: { ...visiting, 400: ['Message required', LONG_MESSAGE, 'id must be letters, digits and dashes'] },
});

export const handOver = endpoint({
  ...open,
  method: 'POST',
  path: '/api/widgets/:key/handover',
  summary: 'Ask for a person as a visitor',
  params: byKey,
  bodyLimit: BODY_BYTES,
  reply: z.object({ state: visitorState }),
  errors: { ...visiting, 409: ['There is no person to ask here'] },
});

export const follow = endpoint({
  ...open,
  method: 'GET',
  path: '/api/widgets/:key/events',
  summary:
    'A visitor’s own conversation as server-sent events: `message`, `delta`, `end`, `waits`, `state`, `closed`; after Last-Event-ID',
  params: byKey,
  produces: 'text/event-stream',
  errors: { ...visiting, 404: [WIDGET_GONE, 'There is no conversation yet'] },
});

export const page = endpoint({
  ...base,
  auth: 'none',
  method: 'GET',
  path: '/w/:key',
  summary: 'The page of a widget',
  params: byKey,
  produces: 'text/html',
  errors: { 404: [WIDGET_GONE] },
});
