export * from './templates.ts';
export {
  CUSTOM_TEAM_NAME,
  readTeamYaml,
  teamFromCustom,
  teamFromTemplate,
  teamYaml,
  type CustomAgent,
  type McpToolset,
  type Team,
  type TeamAgent,
  type TeamReading,
} from './team.ts';
