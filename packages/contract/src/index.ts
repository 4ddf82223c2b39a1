/** Endpoints are reached by service, slice and verb (`web.keys.create`); texts, types and schemas by their own name. */
export * as web from './web.ts';
export * as backend from './backend.ts';
export * as gateway from './gateway.ts';
export * as summarizer from './platform/summarizer.ts';

export * from './client.ts';
export * from './common.ts';
export * from './email.ts';
export * from './endpoint.ts';
export * from './endpoints.ts';
export { COMMON_ERRORS, errorsOf, errorCheck } from './errors.ts';
export * from './forms.ts';
export * from './job.ts';
export * from './messages.ts';
export * from './openapi.ts';
export * from './pages.ts';
export * from './sse.ts';

export * from './platform/jobs.ts';
export { MOST_LOG_STREAMS, TOO_MANY_LOG_STREAMS } from './agents/agents/web.ts';
export { type Notice, MOST_NOTICE_STREAMS, TOO_MANY_NOTICE_STREAMS } from './platform/notices.ts';
export { PUSH_KINDS, type PushKind, type PushSubscriptionRow } from './platform/push.ts';
export { WEBHOOK_EVENTS, type Webhook, type WebhookDelivery, type WebhookEvent } from './platform/webhooks.ts';

export type { Access, AccessRequest } from './identity/access.ts';
export { GRACE_DAYS, CLOSING_REFUSALS } from './identity/account.ts';
export { CONFIRM_FIRST, SIGN_IN_AGAIN, PASSKEYS_NEED_A_NAME, TOO_MANY_GUESSES } from './identity/fields.ts';
export * from './identity/jobs.ts';
export { MISSING_KEY, INVALID_KEY } from './identity/keys/web.ts';
export { JOINING_MODES, NOT_JOINING, type JoiningMode, type JoiningRules } from './identity/joining.ts';
export type { SignInError } from './identity/oauth.ts';
export { OTHER_ACCOUNT } from './identity/register.ts';
export { SECURITY_EVENTS } from './identity/risc.ts';
export type { PasskeyAssertion, PasskeyAttestation } from './identity/second-step.ts';

export type { WebAgent } from './agents/agents/web.ts';
export { MOST_BODY } from './agents/ai/v1/fields.ts';
export { type ErrorShape, errorType, shapedError, shapeFor } from './agents/ai/v1/errors.ts';
export type { AgentBackup } from './agents/backups/fields.ts';
export type { BackgroundTask } from './agents/background/fields.ts';
export {
  CHANNEL_FIELDS,
  CHANNEL_KINDS,
  CHANNEL_NAMES,
  type AgentChannel,
  type ChannelField,
  type ChannelKind,
  type ChannelReceipt,
} from './agents/channels/fields.ts';
export { RUN_ERRORS } from './agents/managed/deployments.ts';
export { FILES_MB } from './agents/managed/files.ts';
export { STORE_MB, storeContent, storePath } from './agents/managed/memory-stores.ts';
export { refusedPath } from './agents/managed/refused.ts';
export { MOST_COMPARED } from './agents/compare.ts';
export { ANSWER_LENGTH, ANSWER_TOO_LONG } from './agents/conversations/fields.ts';
export type { SessionHead, Attachment, SessionStep, Branch, Question } from './agents/conversations/fields.ts';
export type { Deployment } from './agents/deployments.ts';
export type { Device } from './agents/devices.ts';
export {
  NOT_PASSED_TEXTS,
  agentPurpose,
  AGENT_NOT_FOUND,
  AGENT_GONE,
  AGENT_STOPPED,
  TASK_NOT_FOUND,
  MESSAGE_TOO_LARGE,
  type AgentStats,
  type ProvisionBody,
} from './agents/fields.ts';
export {
  CASE_INPUT,
  CASE_SECONDS,
  EVALUATION_USD,
  MOST_CASES,
  MOST_CHECKS,
  type CaseState,
  type Evaluation,
  type EvaluationCase,
  type EvaluationCaseBody,
  type EvaluationChange,
  type EvaluationCheck,
  type EvaluationResult,
  type EvaluationStub,
} from './agents/evaluations.ts';
export {
  FILE_BYTES,
  MOST_ATTACHMENTS,
  TOO_MANY_ATTACHMENTS,
  PACKED_FILES,
  PACKED_MB,
  shortName,
  UPLOADS,
  type FileEntry,
} from './agents/files/fields.ts';
export { MARK_WORDS, MOST_AT_ONCE, ONE_ANSWER, UNLIKE } from './agents/inbox.ts';
export { NO_AGENT_TRIES, type UserServer } from './agents/servers/web.ts';
export type { InboxItem, InboxMark, WaitingPayment } from './agents/inbox.ts';
export { INSTANCE_ACTIONS } from './agents/instance.ts';
export * from './agents/jobs.ts';
export {
  LIVE_TOPICS,
  type LiveTopic,
  MOST_WATCHES,
  MOST_STREAMS,
  MOST_FOLLOWED,
  TOO_MANY_STREAMS,
  TOO_MANY_FOLLOWED,
} from './agents/live.ts';
export { MOST_KEYED_AGENTS, NO_OWN_KEY, OWN_KEY_PROVIDERS, type ModelKey } from './agents/model-keys.ts';
export { KEPT_BY_PLATFORM, type MemoryFact } from './agents/memory/fields.ts';
export { MEMORY_LIMITS } from './agents/memory/web.ts';
export {
  mayBeNamed,
  needsKey,
  needsModels,
  needsNoAddress,
  NO_MODELS,
  PROVIDER_KINDS,
  type ProviderKind,
} from './agents/providers/fields.ts';
export type { AiProvider } from './agents/providers/web.ts';
export { GATEWAY_ENDPOINTS } from './agents/runtime/gateway.ts';
export * from './agents/knowledge/fields.ts';
export { TRIED_SECONDS, TRIED_USD } from './agents/say/fields.ts';
export { SENTENCE_LENGTH, type SaidPlan } from './agents/say/web.ts';
export type { SkillFinding, SkillReview, SkillSummary } from './agents/skills/fields.ts';
export { MOST_SKILLS, MOST_REVIEWS } from './agents/skills/web.ts';
export { LOGIN_NOT_FOUND, MOST_LOGINS, TOO_MANY_LOGINS, type AgentLogin } from './agents/logins.ts';
export type { FoundConversation, FoundFile } from './agents/search.ts';
export { IN_FRONT, MOST_ON_STAGE, type StageActor, type StageChange } from './agents/stage.ts';
export { NO_SCHEDULE, type ScheduledTask } from './agents/tasks.ts';
export { MOST_WIDGETS, WIDGET_DEFAULTS, WIDGET_GONE, type Widget, type WidgetVisitor } from './agents/widgets.ts';
export { MOST_DELIVERED, TRIGGER_KINDS, type TaskTrigger, type TriggerKind } from './agents/triggers.ts';
export type { TeamStoreCall } from './agents/teams/backend.ts';
export { PLAN_FOR_TEAMS, customAgent } from './agents/teams/web.ts';

export {
  COST_SIDES,
  MOST_COST_DAYS,
  type Budget,
  type CostForecast,
  type CostSide,
  type CostsReply,
} from './money/costs.ts';
export { PAYMENT_METHODS } from './money/gateway.ts';
export * from './money/jobs.ts';
export { INVALID_PAYGATE_ACTION } from './money/paygate.ts';
export { BAD_PAYEES } from './money/policy.ts';

export {
  BUS_VERSION,
  type UnsignedBusMessage,
  type BusMessage,
  BUS_MESSAGE_BYTES,
  type LoggedMessage,
} from './underground/bus.ts';
export type { AgentDoor } from './underground/doors.ts';
export type { UndergroundEvent } from './underground/events.ts';
export {
  type Schema,
  bookingOffer,
  bookingCounter,
  bookingAnswer,
  amplifyRequest,
  amplifyAnswer,
} from './underground/negotiation.ts';
export type { SplitReply } from './underground/splits.ts';
