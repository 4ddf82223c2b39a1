export * from './agent-config.ts';
export * from './agent-definition.ts';
export { namedInTrial, onlyLooks, ownTools, runsInTrial, toolsetOf } from './own-tools.ts';
export { isLike, type CalledTool, type Permissions } from './permissions.ts';
export { isSameRule, letThrough, MOST_STANDING, standingChoices, type StandingRule } from './standing.ts';
export { stepsOfRun } from './runs.ts';
export { createTouched, type TouchedFile, type TouchedHow } from './touched.ts';
export { ADDRESS_LENGTH, webAddress } from './web-address.ts';
export * from './teams/index.ts';
export * from './rate-limits.ts';
export * from './money.ts';
export * from './plans.ts';
export * from './infra-tools.ts';
export * from './cron.ts';
export * from './csv.ts';
export * from './ai/catalogue.ts';
export * from './credits.ts';
export * from './features.ts';
export * from './plan-names.ts';
export * from './bookings.ts';
export * from './amplify.ts';
export * from './splits.ts';
export * from './payment-policy.ts';
export * from './agent-backups.ts';
export * from './markdown.ts';
export * from './tool-words.ts';
export { markdownSpans, spanWords, type MarkdownSpan } from './markdown-spans.ts';
export * from './skills/skill.ts';
export {
  ACCOUNT_SCOPE,
  CLIENT_SCOPES,
  OFFLINE_SCOPE,
  readScopes,
  scopeText,
  type ClientScope,
  type GivenScope,
} from './client-scopes.ts';
export * from './say/cost.ts';
export { freeName } from './say/name.ts';
export { SAID_CHANNELS, understand, type Said, type SaidChannel } from './say/rules.ts';
