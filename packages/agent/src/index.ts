export * from './agent.ts';
export * from './session/events.ts';
export * from './ports.ts';
export type { PgStoreOptions } from './store/pg-access.ts';
export { createPgStore, unfinishedAgents } from './store/store-pg.ts';
export { createPgNews, type PgNews } from './store/news-pg.ts';
export { polledNews, type SessionNews } from './session/news.ts';
export { createSqliteStore, type SqliteStore } from './store/store-sqlite.ts';
export type { SqliteStoreOptions } from './store/sqlite-access.ts';
export * from './store/store.ts';
export type * from './store/channel-store.ts';
export * from './tools/tool.ts';
export * from './gateway/types.ts';
export { KeptAgent } from './kept.ts';
export { wakeAgent, type AgentDeps } from './wake.ts';
export { CALLER_HEADER, createGateway, GATEWAY_ROUTES, openedBy, shownToken } from './gateway/gateway.ts';
export { a2aNotification } from './gateway/a2a-tasks.ts';
export { createConnections } from './gateway/connections.ts';
export { teamDefinitions, type TeamSetting } from './team.ts';
export { createProgramShelf, type ProgramShelf } from './programs/shelf.ts';
export { pinSchema, type Pin } from './programs/pin.ts';
export { createPinFile } from './programs/pin-file.ts';
export type { PinStore } from './tools/mcp-programs.ts';
export type { OwnersServer, OwnersServers, Tried } from './tools/mcp-shared.ts';
export { createMcpOAuth, type CredentialStore } from './tools/mcp-oauth.ts';
export { refuseConsent } from './gateway/mcp-servers.ts';
export { createShelf, type Shelf, type SkillSource } from './skills/shelf.ts';
export { embedBy, tendMeanings } from './store/meaning.ts';
export { failureNote, lookForFacts, roomNote, wantsFacts } from './store/facts-look.ts';
export {
  afterStranger,
  MESSAGE_CHARACTERS,
  MOST_MESSAGES,
  OPEN_TO_ANYBODY,
  REST_SECONDS,
  TALKED_IN,
  type FactStore,
  type Said,
  type Talk,
} from './store/facts.ts';
export { keptMeant, nearOf, type Meant } from './store/recall.ts';
export { pgSkills } from './store/skills-pg.ts';
export { pgKnowledge } from './store/knowledge-pg.ts';
export type { Cited, KnowledgeSource } from './store/knowledge.ts';
export type { StoreSource } from './store/memory-stores.ts';
export { browserOff } from './tools/browser.ts';
export { createHeld } from './tools/tool.ts';
export { createToolkit, personsWorkspace, type Toolkit, type ToolkitDeps } from './tools/toolkit.ts';
export { createSandbox, type Sandbox, type SandboxLimits, type SandboxOptions } from './sandbox/sandbox.ts';
export type { Peer, Peers } from './tools/transfer-task.ts';
export { attachmentsOf, plainName, whyNotKept } from './workspace/attachments.ts';
export { readBody } from './gateway/exchange.ts';
export { makeWorkspace, TooLarge, type Workspace } from './workspace/workspace.ts';
export { createCopy, type Copy } from './workspace/copy.ts';
export { storeFolder } from './workspace/copy-store.ts';
export { takePieces } from './workspace/copy-files.ts';
export { removeTree } from './workspace/remove-tree.ts';
export { createJail, OutsideWorkspace, type Jail } from './workspace/jail.ts';
export { archiveOf, unpackItem } from './workspace/archive.ts';
export { withTeamStore, type TeamStore } from './store/shared-store.ts';
export { remotePeer } from './remote-peer.ts';
export { WORKSPACE_ENTRIES } from './workspace/workspace-files.ts';
