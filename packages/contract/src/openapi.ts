import { z } from 'zod';
import type { Auth, Endpoint } from './endpoint.ts';
import { COMMON_ERRORS, errorsOf } from './errors.ts';

const AUTH_TEXT: Record<Auth, string> = {
  none: 'No authentication.',
  session: 'Session cookie, or a user API key as bearer.',
  cookie: 'Session cookie.',
  optional: 'Session cookie or API key, if there is one.',
  admin: 'Session cookie or API key of an administrator.',
  internal: 'Internal API key as bearer.',
  internalOrKey: 'Internal API key or a user API key as bearer.',
  userContext: 'Internal API key as bearer, and the headers x-user-id and x-user-email.',
  client: 'A user API key, or an access token for this resource, as bearer.',
  identity: 'Identity headers.',
};

const SECURITY: Record<Auth, object[]> = {
  none: [],
  session: [{ cookie: [] }, { key: [] }],
  cookie: [{ cookie: [] }],
  optional: [{ cookie: [] }, { key: [] }, {}],
  admin: [{ cookie: [] }, { key: [] }],
  internal: [{ internal: [] }],
  internalOrKey: [{ internal: [] }, { key: [] }],
  userContext: [{ internal: [] }],
  client: [{ key: [] }],
  identity: [],
};

const SCHEMES = {
  cookie: { type: 'apiKey', in: 'cookie', name: 'svc-session' },
  key: { type: 'http', scheme: 'bearer', description: 'A user API key, sk_…' },
  internal: { type: 'http', scheme: 'bearer', description: 'INTERNAL_API_KEY' },
};

interface Info {
  title: string;
  version: string;
  url: string;
}

/** OpenAPI 3.1 of the given endpoints. */
export function openApi(endpoints: readonly Endpoint[], { title, version, url }: Info): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const one of endpoints) {
    const path = one.path.replace(/:([A-Za-z]+)/g, '{$1}').replace(/\*$/, '{path}');
    (paths[path] ??= {})[one.method.toLowerCase()] = operation(one);
  }
  return {
    openapi: '3.1.0',
    info: { title, version, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url }],
    'x-common-errors': COMMON_ERRORS,
    paths,
    components: {
      securitySchemes: Object.fromEntries(
        Object.entries(SCHEMES).filter(([name]) =>
          endpoints.some(({ auth }) => SECURITY[auth].some((way) => name in way)),
        ),
      ),
      schemas: Object.fromEntries(endpoints.flatMap(errorNames).map((name) => [name, ERROR_SCHEMAS[name]])),
    },
  };
}

const object = (properties: Record<string, object>, required = Object.keys(properties)): object => ({
  type: 'object',
  properties,
  required,
});
const STRING = { type: 'string' };

const ERROR_SCHEMAS = {
  Error: object({ error: STRING }),
  OpenaiError: object({
    error: object({
      message: STRING,
      type: STRING,
      code: { type: ['string', 'null'] },
      param: { type: ['string', 'null'] },
    }),
  }),
  AnthropicError: object({ type: { const: 'error' }, error: object({ type: STRING, message: STRING }) }),
};

function errorNames({ errorShape }: Endpoint): (keyof typeof ERROR_SCHEMAS)[] {
  if (errorShape === 'either') return ['OpenaiError', 'AnthropicError'];
  return [errorShape === 'openai' ? 'OpenaiError' : errorShape === 'anthropic' ? 'AnthropicError' : 'Error'];
}

function errorSchema(one: Endpoint): object {
  const refs = errorNames(one).map((name) => ({ $ref: `#/components/schemas/${name}` }));
  return refs.length > 1 ? { anyOf: refs } : refs[0]!;
}

function operation(one: Endpoint): object {
  const produces = one.reply ? 'application/json' : (one.produces ?? 'text/plain');
  const content = { [produces]: { schema: one.reply ? schemaOf(one.reply, 'output') : { type: 'string' } } };
  const responses: Record<string, object> = { [one.status ?? 200]: { description: 'Success', content } };
  for (const [status, texts] of Object.entries(errorsOf(one))) {
    responses[status] = {
      description: texts.join(' · ') || 'Error',
      content: { 'application/json': { schema: errorSchema(one) } },
    };
  }
  responses['default'] = {
    description: 'What any endpoint may answer; the texts are in x-common-errors.',
    content: { 'application/json': { schema: errorSchema(one) } },
  };
  return {
    operationId: operationId(one),
    summary: one.summary,
    description: AUTH_TEXT[one.auth],
    tags: [one.tag],
    security: SECURITY[one.auth],
    parameters: [...parametersOf(one, 'path'), ...parametersOf(one, 'query')],
    ...(one.body
      ? { requestBody: { required: true, content: { 'application/json': { schema: schemaOf(one.body, 'input') } } } }
      : {}),
    ...(one.rawBody === 'bytes' && {
      requestBody: {
        required: true,
        content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
      },
    }),
    ...(one.rawBody === 'form' && {
      requestBody: { required: true, content: { 'multipart/form-data': { schema: FORM } } },
    }),
    responses,
  };
}

/** All that an endpoint with a form takes. */
const FORM = {
  type: 'object',
  required: ['file'],
  properties: { file: { type: 'string', format: 'binary' } },
  additionalProperties: { type: 'string' },
};

const operationId = (one: Endpoint): string => `${one.method.toLowerCase()}${one.path.replace(/[^A-Za-z0-9]+/g, '_')}`;

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}

function parametersOf(one: Endpoint, where: 'path' | 'query'): object[] {
  const schema = where === 'path' ? one.params : one.query;
  const described = schema ? schemaOf(schema, 'input') : {};
  const properties = (described['properties'] ?? {}) as Record<string, object>;
  const required = (described['required'] ?? []) as string[];
  const names =
    where === 'path'
      ? [...one.path.matchAll(/:([A-Za-z]+)/g)].map(([, name]) => String(name))
      : Object.keys(properties);
  return names.map((name) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    schema: properties[name] ?? { type: 'string' },
  }));
}
