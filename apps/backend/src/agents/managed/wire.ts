import type { SkillFiles } from '../skills/service.ts';
import { createDeployments } from './deployments.ts';
import { createFiles } from './files.ts';
import { createResources } from './resources.ts';
import { managedRoutes } from './routes.ts';
import { createManaged, type ManagedDeps } from './service.ts';
import type { SessionDeps } from './session.ts';
import { createSessions } from './sessions.ts';
import { createManagedSkills, type SkillsDeps } from './skills.ts';
import { createThreads } from './threads.ts';
import type { MemoryStores } from './stores.ts';
import { createVaults, vaultCipher } from './vaults.ts';

type WireDeps = Omit<ManagedDeps, 'skills'> &
  SkillsDeps &
  Pick<SessionDeps, 'reach' | 'listener'> & {
    secrets: { walletKey: string };
    stores: MemoryStores;
    skillFiles: SkillFiles;
  };

/** All that clients of Managed Agents find. */
export function wireManaged(server: Parameters<typeof managedRoutes>[0], { secrets, ...deps }: WireDeps) {
  const skills = createManagedSkills(deps);
  const managed = createManaged({ ...deps, skills });
  const files = createFiles(deps);
  const { stores, skillFiles } = deps;
  const resources = createResources({ ...deps, files });
  const vaults = createVaults({ ...deps, cipher: vaultCipher(secrets.walletKey) });
  const sessions = createSessions({ ...deps, managed, files, resources, vaults });
  const deployments = createDeployments({ ...deps, managed, sessions });
  const threads = createThreads(sessions);
  managedRoutes(server, {
    managed,
    sessions,
    files,
    resources,
    threads,
    deployments,
    vaults,
    stores,
    skills,
    skillFiles,
  });
  const forgetExpired = async (): Promise<void> => {
    await files.forgetExpired();
    await stores.memories.forgetOld();
  };
  return { waking: deployments.waking, forgetExpired };
}
