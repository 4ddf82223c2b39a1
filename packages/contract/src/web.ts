/** What people and their programs ask of the web service, by slice. */

export * as health from './platform/health/web.ts';
export * as notices from './platform/notices.ts';
export * as overview from './platform/overview.ts';
export * as push from './platform/push.ts';
export * as webhooks from './platform/webhooks.ts';

export * as access from './identity/access.ts';
export * as account from './identity/account.ts';
export * as admin from './identity/admin.ts';
export * as audit from './identity/audit.ts';
export * as authorization from './identity/authorization.ts';
export * as factors from './identity/factors.ts';
export * as federated from './identity/federated.ts';
export * as invites from './identity/invites.ts';
export * as keys from './identity/keys/web.ts';
export * as oauth from './identity/oauth.ts';
export * as password from './identity/password.ts';
export * as register from './identity/register.ts';
export * as risc from './identity/risc.ts';
export * as secondStep from './identity/second-step.ts';
export * as session from './identity/session.ts';
export * as settings from './identity/settings.ts';
export * as walletAuth from './identity/wallet-auth.ts';

export * as agents from './agents/agents/web.ts';
export * as background from './agents/background/web.ts';
export * as backups from './agents/backups/web.ts';
export * as channels from './agents/channels/web.ts';
export * as chat from './agents/chat.ts';
export * as config from './agents/config.ts';
export * as connections from './agents/connections/web.ts';
export * as conversations from './agents/conversations/web.ts';
export * as demo from './agents/demo.ts';
export * as devices from './agents/devices.ts';
export * as files from './agents/files/web.ts';
export * as heartbeat from './agents/heartbeat.ts';
export * as inbox from './agents/inbox.ts';
export * as installations from './agents/installations/web.ts';
export * as instance from './agents/instance.ts';
export * as knowledge from './agents/knowledge/web.ts';
export * as logins from './agents/logins.ts';
export * as live from './agents/live.ts';
export * as mcp from './agents/mcp.ts';
export * as memory from './agents/memory/web.ts';
export * as models from './agents/models.ts';
export * as providers from './agents/providers/web.ts';
export * as provision from './agents/provision/web.ts';
export * as shares from './agents/shares.ts';
export * as skills from './agents/skills/web.ts';
export * as stage from './agents/stage.ts';
export * as tasks from './agents/tasks.ts';
export * as teams from './agents/teams/web.ts';

export * as billing from './money/billing.ts';
export * as costs from './money/costs.ts';
export * as gateway from './money/gateway.ts';
export * as ledger from './money/ledger.ts';
export * as paygate from './money/paygate.ts';
export * as paymentSessions from './money/payment-sessions.ts';
export * as policy from './money/policy.ts';
export * as topup from './money/topup.ts';
export * as usage from './money/usage.ts';
export * as wallet from './money/wallet.ts';

export { bus, events, negotiation, splits, wallets } from './underground/web.ts';
