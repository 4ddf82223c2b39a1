/** What web and operators ask of the backend, by slice. */

export * as health from './platform/health/backend.ts';
export * as infra from './platform/infra.ts';

export * as keys from './identity/keys/backend.ts';

export * as agents from './agents/agents/backend.ts';
export * as ai from './agents/ai/backend.ts';
export * as backups from './agents/backups/backend.ts';
export * as channels from './agents/channels/backend.ts';
export * as deployments from './agents/deployments.ts';
export * as installations from './agents/installations/backend.ts';
export * as lifecycle from './agents/lifecycle.ts';
export * as managed from './agents/managed/backend.ts';
export * as providers from './agents/providers/backend.ts';
export * as provision from './agents/provision/backend.ts';
export * as runtime from './agents/runtime/backend.ts';
export * as knowledge from './agents/knowledge/backend.ts';
export * as say from './agents/say/backend.ts';
export * as servers from './agents/servers/backend.ts';
export * as skills from './agents/skills/backend.ts';
export * as teams from './agents/teams/backend.ts';
export * as v1 from './agents/ai/v1/index.ts';

export { bus, events, negotiation, splits, wallets } from './underground/backend.ts';
