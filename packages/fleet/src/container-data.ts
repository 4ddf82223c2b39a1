import { sql } from 'kysely';
import type { Database } from '@troupe/db';
import type { Log } from '@troupe/kernel';
import { createVolumes as dockerVolumes } from './docker/volume.ts';
import { ask } from './docker/calls.ts';
import { dockerEngine } from './docker/engine.ts';
import { createServices } from './docker/services.ts';
import { spreadOf, type SpreadSettings } from './docker/spread-settings.ts';
import { createSpreadVolumes } from './docker/spread-volume.ts';
import type { AccessSettings } from './kubernetes/access.ts';
import { kubernetesCluster } from './kubernetes/kubernetes.ts';
import { podOf } from './kubernetes/objects.ts';
import { createVolumes as clusterVolumes } from './kubernetes/volume.ts';
import { createOperations } from './operations.ts';

/** The data of all agents in containers, for a backup of the whole platform. */
export interface ContainerData {
  has: (agentId: string) => Promise<boolean>;
  /** Copies it, whatever its size, while nobody else acts on the agent; false: there is none. */
  copy: (db: Database, agentId: string, file: string) => Promise<boolean>;
  /** Makes it what the file holds. */
  put: (agentId: string, file: string) => Promise<void>;
  remove: (agentId: string) => Promise<void>;
}

export interface ContainerDataSettings extends AccessSettings, SpreadSettings {
  AGENT_DRIVER: string;
  DOCKER_HOST?: string | undefined;
  KUBERNETES_STORAGE_CLASS?: string | undefined;
}

/** Throws when the engine, or the cluster, does not answer. `image`: of agents of this release. */
export async function reachContainerData(
  settings: ContainerDataSettings,
  image: string,
  log: Log,
): Promise<ContainerData> {
  const volumes = await (settings.AGENT_DRIVER === 'kubernetes'
    ? inCluster(settings, image)
    : onEngine(settings, image));
  return {
    has: volumes.has,
    put: volumes.replace,
    remove: volumes.remove,
    copy(db, agentId, file) {
      // What another process has left half done is the platform's to finish, as it finishes a copy that ends here.
      const operations = createOperations({ db, log, redo: async (_agentId, _action, { later }) => later() });
      return operations.run(agentId, 'backup', async () => {
        if (!(await volumes.has(agentId))) return false;
        await volumes.copy(agentId, file, Infinity);
        return true;
      });
    },
  };
}

async function onEngine(settings: ContainerDataSettings, image: string) {
  const engine = await dockerEngine(settings.DOCKER_HOST);
  await ask(engine.ping());
  const spread = settings.AGENT_DRIVER === 'swarm' ? spreadOf(settings) : undefined;
  return spread
    ? createSpreadVolumes({ engine, services: createServices(engine), spread, image })
    : dockerVolumes(engine);
}

async function inCluster(settings: ContainerDataSettings, image: string) {
  const { client, paths } = await kubernetesCluster(settings);
  // An API server that is away does not stop a platform's start; it stops this.
  await client.get(`${paths.pods}/${podOf('nobody')}`);
  return clusterVolumes({ client, paths, image, storageClass: settings.KUBERNETES_STORAGE_CLASS });
}

/** What ran elsewhere is to run here: the platform starts it as soon as it runs itself. */
export async function startLater(db: Database): Promise<void> {
  await sql`insert into agent_operations (agent_id, action, owner, lease_until)
    select id, 'restart', 'restore', clock_timestamp() from agents where status = 'running' and driver is null
    on conflict do nothing`.execute(db.system);
}
