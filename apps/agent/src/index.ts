export { startAgent, type StandaloneAgent, type StandaloneOptions } from './app.ts';
export { readAgentSettings, type AgentSettings } from './settings.ts';
