import { z } from 'zod';
import { endpoint } from '../../endpoint.ts';
import {
  anyQuery,
  listQuery,
  managed,
  metadata,
  metadataChange,
  metadataTold,
  NOT_YOURS,
  PAGE_TEXTS,
  pageOf,
  timesTold,
} from './fields.ts';

/** Vaults: what opens MCP servers. A session that names one opens the servers of its agent that have the same address. */

const AUTH =
  'auth must be of type static_bearer or mcp_oauth: a program gets its environment where it is attached to the agent';
const REFRESH = 'refresh: connect the server on the agent’s page, where access is renewed';
const TOKEN = 'a token must have 1 to 8,000 visible characters';
const URL_TEXT = 'mcp_server_url must be an address that begins with https:// or http://';

const token = z.string(TOKEN).regex(/^[\u0021-\u007e]{1,8000}$/, TOKEN);
const url = z
  .string({ error: URL_TEXT })
  .max(2000, { error: URL_TEXT, abort: true })
  .check(z.url({ protocol: /^https?$/, error: URL_TEXT }));
const expires = z.iso.datetime({ offset: true }).nullish();
const name = z.string().trim().min(1).max(200);
const auth = z.discriminatedUnion(
  'type',
  [
    z.strictObject({ type: z.literal('static_bearer'), token, mcp_server_url: url }),
    z.strictObject({
      type: z.literal('mcp_oauth'),
      access_token: token,
      mcp_server_url: url,
      expires_at: expires,
      refresh: z.null(REFRESH).optional(),
    }),
  ],
  AUTH,
);
const authChange = z.discriminatedUnion(
  'type',
  [
    z.strictObject({ type: z.literal('static_bearer'), token: token.nullish() }),
    z.strictObject({
      type: z.literal('mcp_oauth'),
      access_token: token.nullish(),
      expires_at: expires,
      refresh: z.null(REFRESH).optional(),
    }),
  ],
  AUTH,
);

const stamps = {
  metadata: metadataTold,
  ...timesTold,
};
const vault = z.object({ type: z.literal('vault'), id: z.string(), display_name: z.string(), ...stamps });
const credential = z.object({
  type: z.literal('vault_credential'),
  id: z.string(),
  vault_id: z.string(),
  display_name: z.string().nullable(),
  auth: z.discriminatedUnion('type', [
    z.object({ type: z.literal('static_bearer'), mcp_server_url: z.string() }),
    z.object({
      type: z.literal('mcp_oauth'),
      mcp_server_url: z.string(),
      expires_at: z.string().nullable(),
      refresh: z.null(),
    }),
  ]),
  ...stamps,
});
const NO_VAULT = 'Vault not found';
const NO_CREDENTIAL = 'Credential not found';
const ARCHIVED = 'The vault is archived';
const errors = { 400: [NOT_YOURS], 404: [NO_VAULT] };
const inner = { 400: [NOT_YOURS], 404: [NO_VAULT, NO_CREDENTIAL] };

export const createVault = endpoint({
  ...managed.make,
  path: '/v1/vaults',
  summary: 'A place for what opens MCP servers',
  body: z.object({ display_name: name, metadata: metadata.nullish() }),
  reply: vault,
  errors: { 400: [NOT_YOURS], 404: ['User not found'], 429: ['At most 1,000 vaults'] },
});

export const getVault = endpoint({
  ...managed.read,
  path: '/v1/vaults/:id',
  summary: 'A vault',
  reply: vault,
  errors,
});

export const updateVault = endpoint({
  ...managed.change,
  path: '/v1/vaults/:id',
  summary: 'Change a vault’s name and metadata',
  body: z.object({ display_name: name.nullish(), metadata: metadataChange.nullish() }),
  reply: vault,
  errors,
});

export const listVaults = endpoint({
  ...managed.list,
  path: '/v1/vaults',
  summary: 'Vaults, the newest first',
  reply: pageOf(vault),
  errors: { 400: PAGE_TEXTS },
});

export const archiveVault = endpoint({
  ...managed.change,
  path: '/v1/vaults/:id/archive',
  summary: 'Take no new sessions with a vault; what is in it is forgotten',
  reply: vault,
  errors,
});

export const deleteVault = endpoint({
  ...managed.remove,
  path: '/v1/vaults/:id',
  summary: 'Delete a vault and what is in it',
  reply: z.object({ id: z.string(), type: z.literal('vault_deleted') }),
  errors,
});

const oneParams = z.object({ id: z.string().min(1).max(200), credentialId: z.string().min(1).max(200) });
const one = { path: '/v1/vaults/:id/credentials/:credentialId', params: oneParams } as const;

export const createCredential = endpoint({
  ...managed.change,
  path: '/v1/vaults/:id/credentials',
  summary: 'Keep what opens an MCP server: sealed, and never shown again',
  body: z.object({ auth, display_name: name.nullish(), metadata: metadata.nullish() }),
  reply: credential,
  errors: { ...errors, 400: [NOT_YOURS, ARCHIVED], 429: ['At most 100 credentials of a vault'] },
});

export const getCredential = endpoint({
  ...managed.read,
  ...one,
  summary: 'A credential, without what is secret of it',
  reply: credential,
  errors: inner,
});

export const updateCredential = endpoint({
  ...managed.change,
  ...one,
  summary: 'Change a credential; sessions that begin from then on have it',
  body: z.object({ auth: authChange.optional(), display_name: name.nullish(), metadata: metadataChange.nullish() }),
  reply: credential,
  errors: {
    ...inner,
    400: [NOT_YOURS, ARCHIVED, 'The credential is archived', 'auth: a credential stays of the type that it has'],
  },
});

export const listCredentials = endpoint({
  ...managed.listWithin,
  path: '/v1/vaults/:id/credentials',
  summary: 'Credentials of a vault, the newest first',
  query: listQuery,
  reply: pageOf(credential),
  errors: { 400: PAGE_TEXTS, 404: [NO_VAULT] },
});

export const archiveCredential = endpoint({
  ...managed.change,
  ...one,
  path: `${one.path}/archive`,
  summary: 'Use a credential no more; what is secret of it is forgotten',
  reply: credential,
  errors: inner,
});

export const deleteCredential = endpoint({
  ...managed.remove,
  ...one,
  summary: 'Delete a credential',
  reply: z.object({ id: z.string(), type: z.literal('vault_credential_deleted') }),
  errors: inner,
});

export const validateCredential = endpoint({
  ...managed.change,
  ...one,
  path: `${one.path}/mcp_oauth_validate`,
  summary: 'Refused: a server is tried where it is attached',
  query: anyQuery,
  errors: {
    ...inner,
    400: [NOT_YOURS, 'A server is tried where it is attached: POST /api/agents/:id/mcp-servers/:name/test'],
  },
});
