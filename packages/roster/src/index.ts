export type { AgentChange, AgentRow, AgentSnapshot, NewAgent } from './agent.ts';
export { agentEnv, platformEnv } from './agent-env.ts';
export type { AllAgents } from './all.ts';
export { definitionDigest, effectiveConfig, layered, readPurpose, readTools, type ConfigPart } from './config.ts';
export { isGated, newestTried } from './evaluations.ts';
export { createHostingPlatform, type HostedService, type HostingDeps, type HostingPlatform } from './hosting.ts';
export { createLogins, type Logins, type SealedLogin } from './logins.ts';
export { memberOf, memberToken } from './member-tokens.ts';
export type { OwnAgents } from './own.ts';
export { channelTokens, enabledChannels, provisioned } from './provisioned.ts';
export { agentsElsewhere } from './reads.ts';
export { LimitReached } from './room.ts';
export { createRoster, type Roster, type RosterDeps } from './roster.ts';
export {
  addSkillVersion,
  builtInSkill,
  librarySkills,
  lockSkills,
  takeSkillVersion,
  type LibrarySkill,
} from './skills.ts';
export { checkTicket, holderOf, makeTicket, ticketEnds, type Holder } from './tickets.ts';
