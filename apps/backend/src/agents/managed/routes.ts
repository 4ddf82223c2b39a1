import { backend } from '@troupe/contract';
import { serve, type RequestInfo, type Server, type User } from '@troupe/kernel';
import { actingFor, callerOf } from '../../context.ts';
import type { Deployments } from './deployments.ts';
import { forAnthropic, type ManagedFiles } from './files.ts';
import type { Resources } from './resources.ts';
import { ownerOf, type Managed } from './service.ts';
import type { ManagedSessions } from './sessions.ts';
import type { Actor } from './memories.ts';
import type { ManagedSkills } from './skills.ts';
import type { SkillFiles } from '../skills/service.ts';
import type { MemoryStores } from './stores.ts';
import type { Threads } from './threads.ts';
import type { Vaults } from './vaults.ts';

interface Asked {
  user: User | null;
  request: RequestInfo;
}

const whose = ({ user, request }: Asked): string => ownerOf(user?.id ?? actingFor(request));

const callerFor = (asked: Asked) => {
  const { user } = asked;
  const told = callerOf(asked.request);
  return user ? { userId: user.id, elevated: user.isAdmin, plan: user.plan } : { ...told, userId: whose(asked) };
};

const on = backend.managed;

export interface ManagedParts {
  managed: Managed;
  sessions: ManagedSessions;
  files: ManagedFiles;
  resources: Resources;
  threads: Threads;
  deployments: Deployments;
  vaults: Vaults;
  stores: MemoryStores;
  skills: ManagedSkills;
  /** What agents of an older release look for at the address of a skill. */
  skillFiles: SkillFiles;
}

export function managedRoutes(server: Server, parts: ManagedParts): void {
  agentRoutes(server, parts);
  sessionRoutes(server, parts);
  withinSession(server, parts);
  fileRoutes(server, parts);
  deploymentRoutes(server, parts);
  vaultRoutes(server, parts);
  storeRoutes(server, parts);
  skillRoutes(server, parts);
}

function agentRoutes(server: Server, { managed }: ManagedParts): void {
  serve(server, on.createAgent, (asked) => managed.createAgent(callerFor(asked), asked.body));
  serve(server, on.getAgent, (asked) => managed.getAgent(whose(asked), asked.params.id, asked.query.version));
  serve(server, on.updateAgent, (asked) => managed.updateAgent(whose(asked), asked.params.id, asked.body));
  serve(server, on.listAgents, (asked) => managed.listAgents(whose(asked), asked.query));
  serve(server, on.archiveAgent, (asked) => managed.archiveAgent(whose(asked), asked.params.id));
  serve(server, on.listAgentVersions, (asked) => managed.listAgentVersions(whose(asked), asked.params.id, asked.query));

  serve(server, on.createEnvironment, (asked) => managed.createEnvironment(whose(asked), asked.body));
  serve(server, on.getEnvironment, (asked) => managed.getEnvironment(whose(asked), asked.params.id));
  serve(server, on.updateEnvironment, (asked) => managed.updateEnvironment(whose(asked), asked.params.id, asked.body));
  serve(server, on.listEnvironments, (asked) => managed.listEnvironments(whose(asked), asked.query));
  serve(server, on.archiveEnvironment, (asked) => managed.archiveEnvironment(whose(asked), asked.params.id));
  serve(server, on.deleteEnvironment, (asked) => managed.deleteEnvironment(whose(asked), asked.params.id));
}

function sessionRoutes(server: Server, { sessions }: ManagedParts): void {
  serve(server, on.createSession, async (asked) => {
    const [userId, { initial_events: first }] = [whose(asked), asked.body];
    const made = await sessions.create(userId, asked.body, asked.request);
    if (!first?.length) return made;
    await sessions.send(userId, made.id, first, asked.request);
    return sessions.get(userId, made.id);
  });
  serve(server, on.getSession, (asked) => sessions.get(whose(asked), asked.params.id));
  serve(server, on.updateSession, (asked) => sessions.update(whose(asked), asked.params.id, asked.body));
  serve(server, on.listSessions, (asked) => sessions.list(whose(asked), asked.query));
  serve(server, on.archiveSession, (asked) => sessions.archive(whose(asked), asked.params.id));
  serve(server, on.deleteSession, (asked) => sessions.remove(whose(asked), asked.params.id));
  serve(server, on.sendEvents, (asked) =>
    sessions.send(whose(asked), asked.params.id, asked.body.events, asked.request),
  );
  serve(server, on.listEvents, (asked) => sessions.events(whose(asked), asked.params.id, asked.query));
  serve(server, on.streamEvents, (asked) =>
    sessions.stream(asked.user ?? { id: whose(asked) }, asked.params.id, asked.request.signal()),
  );
}

/** Files and the thread of a session. */
function withinSession(server: Server, { sessions, resources, threads }: ManagedParts): void {
  serve(server, on.addResource, async (asked) =>
    resources.add(await sessions.into(whose(asked), asked.params.id), asked.body, asked.request),
  );
  serve(server, on.listResources, async (asked) => {
    const { id } = await sessions.get(whose(asked), asked.params.id);
    return resources.list(whose(asked), id, asked.query);
  });
  serve(server, on.getResource, async (asked) => {
    const { id } = await sessions.get(whose(asked), asked.params.id);
    return resources.get(whose(asked), id, asked.params.resourceId);
  });
  serve(server, on.updateResource, async (asked) => {
    const { id } = await sessions.get(whose(asked), asked.params.id);
    return resources.update(whose(asked), id, asked.params.resourceId);
  });
  serve(server, on.deleteResource, async (asked) =>
    resources.remove(await sessions.into(whose(asked), asked.params.id), asked.params.resourceId),
  );

  serve(server, on.listThreads, (asked) => threads.list(whose(asked), asked.params.id, asked.query));
  serve(server, on.getThread, ({ params, ...asked }) => threads.get(whose(asked), params.id, params.threadId));
  serve(server, on.archiveThread, ({ params, ...asked }) => threads.archive(whose(asked), params.id, params.threadId));
  serve(server, on.listThreadEvents, ({ params, ...asked }) =>
    threads.events(whose(asked), params.id, params.threadId, asked.query),
  );
  serve(server, on.streamThreadEvents, ({ params, ...asked }) =>
    threads.stream(asked.user ?? { id: whose(asked) }, params.id, params.threadId, asked.request.signal()),
  );
}

function fileRoutes(server: Server, { files }: ManagedParts): void {
  const from = (asked: Asked): string => {
    forAnthropic(asked.request);
    return whose(asked);
  };
  serve(server, on.uploadFile, (asked) => {
    from(asked);
    return files.upload(callerFor(asked), asked.request);
  });
  serve(server, on.listFiles, (asked) => files.list(from(asked), asked.query));
  serve(server, on.getFile, (asked) => files.get(from(asked), asked.params.id));
  serve(server, on.downloadFile, (asked) => files.download(from(asked), asked.params.id, asked.request));
  serve(server, on.deleteFile, (asked) => files.remove(from(asked), asked.params.id));
}

function deploymentRoutes(server: Server, { deployments }: ManagedParts): void {
  serve(server, on.createDeployment, (asked) => deployments.create(callerFor(asked), asked.body));
  serve(server, on.getDeployment, (asked) => deployments.get(whose(asked), asked.params.id));
  serve(server, on.updateDeployment, (asked) => deployments.update(whose(asked), asked.params.id, asked.body));
  serve(server, on.listDeployments, (asked) => deployments.list(whose(asked), asked.query));
  serve(server, on.archiveDeployment, (asked) => deployments.archive(whose(asked), asked.params.id));
  serve(server, on.pauseDeployment, (asked) => deployments.pause(whose(asked), asked.params.id));
  serve(server, on.unpauseDeployment, (asked) => deployments.unpause(whose(asked), asked.params.id));
  serve(server, on.runDeployment, (asked) => deployments.run(whose(asked), asked.params.id));
  serve(server, on.getDeploymentRun, (asked) => deployments.getRun(whose(asked), asked.params.id));
  serve(server, on.listDeploymentRuns, (asked) => deployments.listRuns(whose(asked), asked.query));
}

function vaultRoutes(server: Server, { vaults }: ManagedParts): void {
  serve(server, on.createVault, (asked) => vaults.createVault(whose(asked), asked.body));
  serve(server, on.getVault, (asked) => vaults.getVault(whose(asked), asked.params.id));
  serve(server, on.updateVault, (asked) => vaults.updateVault(whose(asked), asked.params.id, asked.body));
  serve(server, on.listVaults, (asked) => vaults.listVaults(whose(asked), asked.query));
  serve(server, on.archiveVault, (asked) => vaults.archiveVault(whose(asked), asked.params.id));
  serve(server, on.deleteVault, (asked) => vaults.deleteVault(whose(asked), asked.params.id));
  serve(server, on.createCredential, (asked) => vaults.createCredential(whose(asked), asked.params.id, asked.body));
  serve(server, on.listCredentials, (asked) => vaults.listCredentials(whose(asked), asked.params.id, asked.query));
  serve(server, on.getCredential, ({ params, ...asked }) =>
    vaults.getCredential(whose(asked), params.id, params.credentialId),
  );
  serve(server, on.updateCredential, ({ params, ...asked }) =>
    vaults.updateCredential(whose(asked), params.id, params.credentialId, asked.body),
  );
  serve(server, on.archiveCredential, ({ params, ...asked }) =>
    vaults.archiveCredential(whose(asked), params.id, params.credentialId),
  );
  serve(server, on.deleteCredential, ({ params, ...asked }) =>
    vaults.deleteCredential(whose(asked), params.id, params.credentialId),
  );
  serve(server, on.validateCredential, ({ params, ...asked }) =>
    vaults.validateCredential(whose(asked), params.id, params.credentialId),
  );
}

/** Who writes, as versions tell it; the platform itself comes without a key. */
const actorOf = ({ user }: Pick<Asked, 'user'>): Actor => ({
  type: 'api_actor',
  api_key_id: user?.keyId ?? user?.sessionId ?? 'platform',
});

function storeRoutes(server: Server, { stores }: ManagedParts): void {
  const { memories } = stores;
  serve(server, on.createStore, (asked) => stores.create(whose(asked), asked.body));
  serve(server, on.getStore, (asked) => stores.get(whose(asked), asked.params.id));
  serve(server, on.updateStore, (asked) => stores.update(whose(asked), asked.params.id, asked.body));
  serve(server, on.listStores, (asked) => stores.list(whose(asked), asked.query));
  serve(server, on.archiveStore, (asked) => stores.archive(whose(asked), asked.params.id));
  serve(server, on.deleteStore, (asked) => stores.remove(whose(asked), asked.params.id));
  serve(server, on.createMemory, ({ params, query, body, ...asked }) =>
    memories.create(whose(asked), params.id, body, query, actorOf(asked)),
  );
  serve(server, on.listMemories, (asked) => memories.list(whose(asked), asked.params.id, asked.query));
  serve(server, on.getMemory, ({ params, query, ...asked }) =>
    memories.get(whose(asked), params.id, params.memoryId, query),
  );
  serve(server, on.updateMemory, ({ params, query, body, ...asked }) =>
    memories.update(whose(asked), { storeId: params.id, id: params.memoryId }, body, query, actorOf(asked)),
  );
  serve(server, on.deleteMemory, ({ params, query, ...asked }) =>
    memories.remove(whose(asked), params.id, params.memoryId, query.expected_content_sha256, actorOf(asked)),
  );
  serve(server, on.listVersions, (asked) => memories.versions(whose(asked), asked.params.id, asked.query));
  serve(server, on.getVersion, ({ params, query, ...asked }) =>
    memories.version(whose(asked), params.id, params.versionId, query),
  );
  serve(server, on.useStore, ({ user, request, body }) =>
    stores.use(request.headers['x-agent-id'], user?.id ?? actingFor(request), body),
  );
  serve(server, on.redactVersion, ({ params, ...asked }) =>
    memories.redact(whose(asked), params.id, params.versionId, actorOf(asked)),
  );
}

const DIGEST = /^[0-9a-f]{64}$/;

function skillRoutes(server: Server, { skills, skillFiles }: ManagedParts): void {
  serve(server, on.createSkill, (asked) => skills.create(whose(asked), asked.request));
  serve(server, on.listSkills, (asked) => skills.list(whose(asked), asked.query));
  serve(server, on.getSkill, ({ params, ...asked }) => {
    if (!DIGEST.test(params.id)) return skills.get(whose(asked), params.id);
    const { user, request } = asked;
    return skillFiles.fetch(request.headers['x-agent-id'], user?.id ?? actingFor(request), params.id);
  });
  serve(server, on.deleteSkill, (asked) => skills.remove(whose(asked), asked.params.id));
  serve(server, on.createSkillVersion, (asked) => skills.addVersion(whose(asked), asked.params.id, asked.request));
  serve(server, on.listSkillVersions, (asked) => skills.versions(whose(asked), asked.params.id, asked.query));
  serve(server, on.getSkillVersion, ({ params, ...asked }) => skills.version(whose(asked), params.id, params.version));
  serve(server, on.deleteSkillVersion, ({ params, ...asked }) =>
    skills.removeVersion(whose(asked), params.id, params.version),
  );
  serve(server, on.downloadSkillVersion, ({ params, ...asked }) =>
    skills.download(whose(asked), params.id, params.version, asked.request),
  );
}
