import type { z } from 'zod';
import type { ErrorShape } from './agents/ai/v1/errors.ts';

/**
 * An endpoint is described once, here. `serve` in the kernel attaches it to a server, `createClient` calls it, and the
 * OpenAPI document is printed from it.
 */

export type Service = 'web' | 'backend' | 'summarizer';
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Who may call. The guard of that name runs before the body is looked at, so 401 comes before 400. */
export type Auth =
  | 'none'
  /** the session cookie, or a user's API key as bearer */
  | 'session'
  /** the session cookie only: what a leaked API key must not be able to do */
  | 'cookie'
  /** a session if there is one */
  | 'optional'
  /** a session or an API key of an administrator */
  | 'admin'
  /** `Authorization: Bearer <INTERNAL_API_KEY>` */
  | 'internal'
  /** the internal key, or a user's API key */
  | 'internalOrKey'
  /** the internal key and the headers x-user-id and x-user-email */
  | 'userContext'
  /** for programs of a person's: an API key, or an access token that was given for this resource */
  | 'client'
  /** identity headers, believed as far as the loopback rule or a signature allows; otherwise `anonymous` */
  | 'identity';

type Schema = z.ZodType;

export interface EndpointSpec {
  service: Service;
  method: Method;
  path: string;
  auth: Auth;
  summary: string;
  /** Groups endpoints in the reference. */
  tag: string;
  params?: Schema;
  query?: Schema;
  body?: Schema;
  /** The body of a successful answer. Left out: the answer is not JSON (a stream, a redirect, plain text). */
  reply?: Schema;
  /** Status of a successful answer, 200 unless said. */
  status?: number;
  /** The media type of an answer that is not JSON. */
  produces?: string;
  /**
   * The error texts of each status beside those of all endpoints and of its guard (errors.ts): exact, but for what stands
   * in angle brackets. Texts of its schemas are declared by those. Outside production `serve` refuses to say any other.
   */
  errors?: Readonly<Record<number, readonly string[]>>;
  /** What it asks to answer, and whose refusals it tells on in their own words. */
  passesOn?: () => readonly Endpoint[];
  /**
   * The body is taken as it came, whatever its type (signed webhooks, security event tokens). `bytes`: it is a file, sent
   * as application/octet-stream; `form`: it is a form with a file, sent as multipart/form-data.
   */
  rawBody?: boolean | 'bytes' | 'form';
  /** Bytes of a body; a megabyte unless said. */
  bodyLimit?: number;
  /** Pages of other origins may call it from a browser, where the key allows them; `checked`: the service says which. */
  pages?: boolean | 'checked';
  /** Errors look as clients of another's protocol expect them; `either`: by the headers. `{error: text}` unless said. */
  errorShape?: ErrorShape | 'either';
  /** What a body that does not parse as JSON is told; `Invalid JSON` unless said. */
  invalidJson?: string;
  /** What a caller without the right credentials is told; `Unauthorized` unless said. */
  unauthorized?: string;
  /** What the caller is told when something unexpected fails; the cause goes to the log only. */
  failure?: string;
  /** Fields that every error body of this endpoint carries beside `error`. */
  errorFields?: Readonly<Record<string, unknown>>;
}

type In<S> = S extends Schema ? z.input<S> : undefined;
type Out<S> = S extends Schema ? z.output<S> : undefined;

/** The types of an endpoint, computed where it is defined: inferring them at each use made the type check slow. */
export interface EndpointTypes {
  auth: Auth;
  params: unknown;
  query: unknown;
  body: unknown;
  sent: { params: unknown; query: unknown; body: unknown };
  reply: unknown;
}

export interface Endpoint<T extends EndpointTypes = EndpointTypes> extends EndpointSpec {
  /** Never set: carries the types. */
  readonly types?: T;
}

/** Without effects: a page of the dashboard carries only those that it calls. */
/* @__NO_SIDE_EFFECTS__ */
export function endpoint<
  const A extends Auth,
  P extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
  R extends Schema | undefined = undefined,
>(
  spec: Omit<EndpointSpec, 'auth' | 'params' | 'query' | 'body' | 'reply'> & {
    auth: A;
    params?: P;
    query?: Q;
    body?: B;
    reply?: R;
  },
): Endpoint<{
  auth: A;
  params: Out<P>;
  query: Out<Q>;
  body: Out<B>;
  sent: { params: In<P>; query: In<Q>; body: In<B> };
  reply: In<R>;
}> {
  return spec as never;
}

export type TypesOf<E> = E extends Endpoint<infer T> ? T : never;
