/** Facts about the infrastructure-tooling server that the gateway describes. */

const REPOSITORY = 'https://github.com/render-oss/render-mcp-server';
const DOCUMENTATION = 'https://render.com/docs/mcp-server';
const HOSTED = 'https://mcp.render.com/mcp';

export const INFRA = {
  name: 'Render MCP server',
  version: '1.0.0',
  description: 'Manage Render services, databases, deploys, logs and metrics through the Model Context Protocol.',
  maintainer: 'Render',
  repository: REPOSITORY,
  image: 'ghcr.io/render-oss/render-mcp-server',
  documentation: DOCUMENTATION,
  hosted: HOSTED,
  features: [
    'Create and inspect web services, static sites and cron jobs',
    'Read deploys, logs and metrics',
    'Create and query PostgreSQL databases (queries are read-only)',
    'Create and inspect Key Value instances',
    'Change environment variables of a service',
  ],
} as const;

export const INFRA_TOOLS = {
  workspaces: ['list_workspaces', 'select_workspace', 'get_selected_workspace'],
  services: [
    'list_services',
    'get_service',
    'create_web_service',
    'create_static_site',
    'create_cron_job',
    'update_environment_variables',
  ],
  deployments: ['list_deploys', 'get_deploy'],
  logs: ['list_logs', 'list_log_label_values'],
  metrics: ['get_metrics'],
  postgres: ['list_postgres_instances', 'get_postgres', 'create_postgres', 'query_render_postgres'],
  key_value: ['list_key_value', 'get_key_value', 'create_key_value'],
};

export const INFRA_EXAMPLES = {
  service_management: [
    'List my services',
    'Create a web service from this repository',
    'Set LOG_LEVEL to debug on the api service',
  ],
  deployment_monitoring: ['Show the last five deploys of the api service', 'Did the latest deploy of web succeed?'],
  database_management: [
    'List my PostgreSQL databases',
    'Create a PostgreSQL database named orders',
    'How many rows does the users table have?',
  ],
  monitoring_and_logs: ['Show the error logs of the last hour', 'What was the memory use of the api service today?'],
  troubleshooting: ['Why does my service answer 502?', 'Which deploy came just before the errors began?'],
};

const KEY_PREFIX = 'rnd_';
const KEY_LENGTH = 20;

/** What is wrong with the form of a key; empty when nothing is. */
export function infraKeyErrors(key: unknown): string[] {
  if (typeof key !== 'string' || key === '') return ['api_key is required'];
  const errors = [];
  if (!key.startsWith(KEY_PREFIX)) errors.push(`api_key must start with "${KEY_PREFIX}"`);
  if (key.length < KEY_LENGTH) errors.push('api_key appears too short');
  return errors;
}
