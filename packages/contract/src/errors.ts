import { DRIVER_TEXTS } from './agents/fields.ts';
import type { Auth, Endpoint } from './endpoint.ts';
import { schemaTexts } from './schema-texts.ts';

/**
 * Which error answers an endpoint may give. What stands in angle brackets, as in `Unknown template <key>`, is one
 * character or more that differ from answer to answer; `<field>` is the name of a field or the path to it. Everything
 * else is exact.
 */

type Texts = Readonly<Record<number, readonly string[]>>;

const CROSS_SITE = 'Invalid CSRF token';
const NULL_CHARACTERS = 'Null characters are not allowed';
const STOPPING = 'The platform is stopping';

/** What messages.ts makes where a schema has no text of its own. */
const VALIDATION_TEXTS = [
  '<field> is required',
  '<field> must be a <type>',
  '<field> must be an <type>',
  '<field> must be at least <n>',
  '<field> must be at most <n>',
  '<field> must be one of: <values>',
  '<field> has characters that are not allowed',
  '<field> is not a valid <format>',
  '<field> has unknown fields: <names>',
  '<field> is not valid',
];

/** What any endpoint may say: the door, the limits, reading the request, the database, the stop of the platform. */
export const COMMON_ERRORS: Texts = {
  400: [
    'Invalid JSON',
    'Content-Type must be application/json',
    NULL_CHARACTERS,
    'Text must be valid Unicode: it has one half of a surrogate pair without the other',
    'JSON must not be nested deeper than <n> levels',
    'JSON must not have more than <n> lists, objects and fields',
    'JSON of more than 1 MB must not have more than a million characters outside of its texts, nor as many escapes in them',
    'A part of the path must not be "." or ".."',
    'The address is not valid',
    'A request must have one Host header',
    ...VALIDATION_TEXTS,
  ],
  413: ['Request body too large'],
  421: ['This host name is not answered here: open <address>, or set BASE_URL to the address that you use'],
  429: [
    'Too many requests',
    'Too many requests, please slow down.',
    'Too many requests at once',
    'At most <n> requests of more than 64 KB at a time',
    'AI rate limit exceeded.',
    'Deployment rate limit exceeded.',
    'Too many requests are waiting already. Try again in a moment.',
  ],
  500: ['Internal server error', ...DRIVER_TEXTS],
  503: [
    'The database does not answer at the moment. Try again in a few seconds.',
    'The connection to the database broke. Look whether this was done before you try again.',
    'The disk of this service is full. Whoever runs it must free space.',
    'The Kubernetes API server does not answer at the moment. Try again in a few seconds.',
    'The service is busy. Try again in a moment.',
    STOPPING,
    'Too many signatures to verify',
  ],
};

/** What the guard of an endpoint says. */
function guardErrors(auth: Auth, unauthorized = 'Unauthorized'): Texts {
  switch (auth) {
    case 'none':
    case 'identity':
      return {};
    case 'optional':
      return { 403: [CROSS_SITE] };
    case 'session':
    case 'cookie':
      return { 401: [unauthorized], 403: [CROSS_SITE] };
    case 'admin':
      return { 403: ['Admin access required.', CROSS_SITE] };
    case 'internal':
    case 'internalOrKey':
      return { 401: [unauthorized], 403: ['Forbidden'], 500: ['Server misconfigured'] };
    case 'client':
      return { 401: [unauthorized] };
    case 'userContext':
      return { 401: [unauthorized, 'User context required'] };
  }
}

/** What the way in says, beside the guard. */
function wayErrors({ pages, bodyLimit, invalidJson, failure }: Endpoint): Texts {
  return {
    400: invalidJson === undefined ? [] : [invalidJson],
    403: pages ? ['This key is not for pages of <origin>: make one that names it'] : [],
    429: bodyLimit === undefined ? [] : ['At most <n> requests of more than 1 MB at a time'],
    500: failure === undefined ? [] : [failure],
  };
}

/** Its own texts, those of its schemas, and those of whatever it passes on. */
function ownErrors(one: Endpoint): Texts[] {
  const refused = [one.params, one.query, one.body].flatMap(schemaTexts);
  return [one.errors ?? {}, { 400: refused }, ...(one.passesOn?.() ?? []).flatMap(ownErrors)];
}

/** What this endpoint may say beside what all may, by status. */
export function errorsOf(one: Endpoint): Record<number, string[]> {
  const all: Record<number, string[]> = {};
  for (const texts of [...ownErrors(one), guardErrors(one.auth, one.unauthorized), wayErrors(one)])
    for (const [status, list] of Object.entries(texts)) (all[Number(status)] ??= []).push(...list);
  return Object.fromEntries(
    Object.entries(all).flatMap(([status, list]) => {
      // Without a text it is still declared, unless it only stands for schemas that have none.
      const isOwn = Number(status) in (one.errors ?? {});
      return list.length > 0 || isOwn ? [[status, [...new Set(list)]] as const] : [];
    }),
  );
}

const SPECIAL = /[.*+?^${}()|[\]\\]/g;
const PLACE = /<[a-z][a-z ]*>/i;
const PLACES = /(<[a-z][a-z ]*>)/i;

function pattern(text: string): RegExp {
  const parts = text.split(PLACES).map((part) => {
    if (part === '<field>') return String.raw`[\w$.-]+`;
    return PLACE.test(part) ? '.+' : part.replace(SPECIAL, String.raw`\$&`);
  });
  return new RegExp(`^${parts.join('')}$`, 's');
}

const says = (declared: string, text: string): boolean =>
  declared === text || (PLACE.test(declared) && pattern(declared).test(text));

/** Says what is wrong with an error answer of this endpoint; nothing: it is declared. An answer may have no text. */
export function errorCheck(one: Endpoint): (status: number, text: string | undefined) => string | undefined {
  // Worked out at the first error: most endpoints of a test never answer one.
  let own: ReturnType<typeof errorsOf> | undefined;
  return (status, text) => {
    own ??= errorsOf(one);
    const texts = [...(own[status] ?? []), ...(COMMON_ERRORS[status] ?? [])];
    if (text === undefined ? own[status] : texts.some((declared) => says(declared, text))) return undefined;
    const said = text === undefined ? 'no text' : JSON.stringify(text);
    return `${one.method} ${one.path} of ${one.service} answers ${status} with ${said}, which its contract does not declare`;
  };
}
