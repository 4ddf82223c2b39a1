export * from './templates.ts';
export {
  CUSTOM_TEAM_NAME,
  teamFromCustom,
  teamFromTemplate,
  type CustomAgent,
  type Team,
  type TeamAgent,
  type TeamReading,
} from './team.ts';
export { tuningSchema, type TeamCollection, type Tuning } from './rag.ts';
export type { McpToolset } from './servers.ts';
export type { Note } from './sift.ts';
export type { A2aAgent, ApiTool, OpenApi, ScriptTool, Traits } from './traits.ts';
