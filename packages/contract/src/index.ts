export * from './client.ts';
export * from './common.ts';
export * from './email.ts';
export * from './endpoint.ts';
export { COMMON_ERRORS, errorCheck, errorsOf } from './errors.ts';
export * from './forms.ts';
export * from './job.ts';
export * from './messages.ts';
export * from './openapi.ts';
export * from './pages.ts';
export * from './sse.ts';

export * from './platform/health/backend.ts';
export * from './platform/health/web.ts';
export * from './platform/infra.ts';
export * from './platform/jobs.ts';
export * from './platform/notices.ts';
export * from './platform/overview.ts';
export * from './platform/summarizer.ts';
export * from './platform/webhooks.ts';

export * from './identity/access.ts';
export * from './identity/account.ts';
export * from './identity/admin.ts';
export * from './identity/audit.ts';
export * from './identity/factors.ts';
export * from './identity/authorization.ts';
export * from './identity/federated.ts';
export { CONFIRM_FIRST, PASSKEY_REFUSED, PASSKEYS_NEED_A_NAME, SIGN_IN_AGAIN } from './identity/fields.ts';
export * from './identity/invites.ts';
export * from './identity/jobs.ts';
export * from './identity/keys/backend.ts';
export * from './identity/keys/web.ts';
export * from './identity/oauth.ts';
export * from './identity/password.ts';
export * from './identity/register.ts';
export * from './identity/risc.ts';
export * from './identity/second-step.ts';
export * from './identity/session.ts';
export * from './identity/settings.ts';
export * from './identity/wallet-auth.ts';

export * from './agents/agents/backend.ts';
export * from './agents/agents/web.ts';
export * from './agents/agent-files.ts';
export * from './agents/ai/backend.ts';
export * from './agents/ai-providers.ts';
export * from './agents/ai/v1/index.ts';
export * from './agents/backups/backend.ts';
export { BACKUP_DAMAGED, BACKUP_NOT_FOUND, type AgentBackup } from './agents/backups/fields.ts';
export * from './agents/backups/web.ts';
export * from './agents/branches.ts';
export * from './agents/chat.ts';
export * from './agents/config.ts';
export * from './agents/connections.ts';
export {
  cancelConversation,
  decideApproval,
  forgetMemory,
  gatewayApprovals,
  gatewayCancel,
  gatewayDecide,
  gatewayFollow,
  gatewayForget,
  gatewaySay,
  gatewaySession,
  gatewaySessions,
  getConversation,
  listConversations,
  say,
  type Attachment,
  type SessionHead,
  type SessionStep,
} from './agents/conversations.ts';
export * from './agents/demo.ts';
export * from './agents/deployments.ts';
export * from './agents/devices.ts';
export {
  AGENT_NOT_FOUND,
  AGENT_STOPPED,
  MESSAGE_TOO_LARGE,
  AI_PROVIDERS,
  VERIFICATION_TYPES,
  type AgentStats,
  type ProvisionBody,
} from './agents/fields.ts';
export * from './agents/heartbeat.ts';
export * from './agents/inbox.ts';
export * from './agents/installations.ts';
export * from './agents/instance.ts';
export * from './agents/jobs.ts';
export * from './agents/lifecycle.ts';
export * from './agents/live.ts';
export * from './agents/mcp.ts';
export * from './agents/memory.ts';
export * from './agents/models.ts';
export * from './agents/provision/backend.ts';
export * from './agents/provision/web.ts';
export * from './agents/runtime.ts';
export * from './agents/skills/backend.ts';
export * from './agents/skills/web.ts';
export { type SkillFinding, type SkillReview, type SkillSummary } from './agents/skills/fields.ts';
export * from './agents/tasks.ts';
export * from './agents/teams/backend.ts';
export * from './agents/teams/shared.ts';
export * from './agents/teams/web.ts';

export * from './money/billing.ts';
export * from './money/gateway.ts';
export * from './money/jobs.ts';
export * from './money/ledger.ts';
export * from './money/paygate.ts';
export * from './money/payment-sessions.ts';
export * from './money/policy.ts';
export * from './money/topup.ts';
export * from './money/usage.ts';
export * from './money/wallet.ts';

export {
  BUS_MESSAGE_BYTES,
  BUS_VERSION,
  busMessage,
  type BusMessage,
  type LoggedMessage,
  type UnsignedBusMessage,
} from './underground/bus.ts';
export type { AgentDoor } from './underground/doors.ts';
export type { UndergroundEvent } from './underground/events.ts';
export {
  amplifyAnswer,
  amplifyRequest,
  bookingAnswer,
  bookingCounter,
  bookingOffer,
  type Schema,
} from './underground/negotiation.ts';
export * from './underground/routes.ts';
export type { SplitReply } from './underground/splits.ts';
