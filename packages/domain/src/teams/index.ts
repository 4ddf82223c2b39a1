export * from './templates.ts';
export {
  CUSTOM_TEAM_NAME,
  teamFromCustom,
  teamFromTemplate,
  type CustomAgent,
  type McpToolset,
  type Team,
  type TeamAgent,
  type TeamReading,
} from './team.ts';
