export { BACKUP_DAMAGED, BACKUP_NOT_FOUND, type AgentBackup } from './backups.ts';
export * from './client.ts';
export * from './common.ts';
export * from './email.ts';
export * from './endpoint.ts';
export * from './job.ts';
export * from './jobs/agents.ts';
export * from './jobs/identity.ts';
export * from './jobs/money.ts';
export * from './jobs/platform.ts';
export * from './messages.ts';
export * from './openapi.ts';
export * from './pages.ts';
export * from './sse.ts';
export * from './web/access.ts';
export * from './web/admin.ts';
export * from './web/audit.ts';
export * from './web/authorization.ts';
export * from './web/health.ts';
export * from './web/identity.ts';
export * from './web/invites.ts';
export * from './web/keys.ts';
export * from './web/settings.ts';
export * from './backend/keys.ts';
export * from './backend/health.ts';
export * from './backend/infra.ts';
export * from './summarizer.ts';
export * from './web/gateway.ts';
export * from './web/ledger.ts';
export * from './web/topup.ts';
export * from './web/paygate.ts';
export * from './web/payment-sessions.ts';
export * from './web/policy.ts';
export * from './web/wallet.ts';
export * from './backend/ai.ts';
export * from './v1/index.ts';
export * from './web/demo.ts';
export * from './web/usage.ts';
export * from './web/config.ts';
export * from './web/connections.ts';
export * from './web/conversations.ts';
export * from './web/devices.ts';
export * from './web/tasks.ts';
export * from './web/inbox.ts';
export * from './web/live.ts';
export * from './web/mcp.ts';
export * from './web/notices.ts';
export * from './web/billing.ts';
export * from './backend/installations.ts';
export * from './web/overview.ts';
export {
  AGENT_NOT_FOUND,
  AGENT_STOPPED,
  MESSAGE_TOO_LARGE,
  AI_PROVIDERS,
  VERIFICATION_TYPES,
  type AgentStats,
  type ProvisionBody,
} from './agent-fields.ts';
export * from './backend/agents.ts';
export * from './backend/deployments.ts';
export * from './backend/runtime.ts';
export * from './backend/team-store.ts';
export * from './web/oauth.ts';
export * from './web/wallet-auth.ts';
export * from './web/risc.ts';
export * from './web/federated.ts';
export * from './web/agents.ts';
export * from './web/agent-backups.ts';
export * from './backend/agent-backups.ts';
export * from './web/provision.ts';
export * from './web/teams.ts';
export * from './web/instance.ts';
export * from './web/chat.ts';
export * from './web/memory.ts';
export * from './web/models.ts';
export * from './web/heartbeat.ts';
export * from './backend/underground.ts';
export * from './backend/negotiation.ts';
