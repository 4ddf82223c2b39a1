/** Anthropic's Managed Agents, over our own agents. */

export { archiveAgent, createAgent, getAgent, listAgents, listAgentVersions, updateAgent } from './agents.ts';
export {
  archiveDeployment,
  createDeployment,
  getDeployment,
  getDeploymentRun,
  listDeploymentRuns,
  listDeployments,
  pauseDeployment,
  runDeployment,
  unpauseDeployment,
  updateDeployment,
} from './deployments.ts';
export {
  archiveEnvironment,
  createEnvironment,
  deleteEnvironment,
  getEnvironment,
  listEnvironments,
  updateEnvironment,
} from './environments.ts';
export { deleteFile, downloadFile, getFile, listFiles, uploadFile } from './files.ts';
export {
  archiveStore,
  createMemory,
  createStore,
  deleteMemory,
  deleteStore,
  getMemory,
  getStore,
  getVersion,
  listMemories,
  listStores,
  listVersions,
  redactVersion,
  updateMemory,
  updateStore,
} from './memory-stores.ts';
export { addResource, deleteResource, getResource, listResources, updateResource } from './resources.ts';
export { useStore } from './runtime.ts';
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
export {
  createSkill,
  createSkillVersion,
  deleteSkill,
  deleteSkillVersion,
  downloadSkillVersion,
  getSkill,
  getSkillVersion,
  listSkills,
  listSkillVersions,
} from './skills.ts';
export { archiveThread, getThread, listThreadEvents, listThreads, streamThreadEvents } from './threads.ts';
export {
  archiveCredential,
  archiveVault,
  createCredential,
  createVault,
  deleteCredential,
  deleteVault,
  getCredential,
  getVault,
  listCredentials,
  listVaults,
  updateCredential,
  updateVault,
  validateCredential,
} from './vaults.ts';
