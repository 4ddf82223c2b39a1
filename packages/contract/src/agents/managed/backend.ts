/** Anthropic's Managed Agents, over our own agents. */

export { archiveAgent, createAgent, getAgent, listAgents, listAgentVersions, updateAgent } from './agents.ts';
export {
  archiveEnvironment,
  createEnvironment,
  deleteEnvironment,
  getEnvironment,
  listEnvironments,
  updateEnvironment,
} from './environments.ts';
export {
  archiveSession,
  createSession,
  deleteSession,
  getSession,
  listEvents,
  listSessions,
  sendEvents,
  streamEvents,
  updateSession,
} from './sessions.ts';
