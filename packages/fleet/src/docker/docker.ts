import type { Driver } from '../driver.ts';
import { ask, askIfThere } from './calls.ts';
import { createContainers, type ContainerDeps, type Way } from './containers.ts';
import { AGENT_UID, NODE, PROGRAM } from './image.ts';
import {
  MOST_PROCESSES,
  nameOf,
  PLATFORM_HOST,
  PORT_LABEL,
  STOP_SECONDS,
  TMP_BYTES,
  type ContainerSpec,
} from './spec.ts';
import { volumeOf } from './volume.ts';

/** One container an agent, on one engine. */
export function createDocker(deps: ContainerDeps): Driver {
  const { engine } = deps;
  const container = (agentId: string) => engine.getContainer(nameOf(agentId));

  async function create(agentId: string, spec: ContainerSpec): Promise<void> {
    const { network, innerPort, port } = spec;
    await ask(
      engine.createContainer({
        name: nameOf(agentId),
        Image: spec.image,
        Cmd: [NODE, PROGRAM],
        User: `${AGENT_UID}:${AGENT_UID}`,
        Env: spec.env,
        Labels: spec.labels,
        ExposedPorts: { [`${innerPort}/tcp`]: {} },
        HostConfig: {
          NetworkMode: network.kind,
          ...(network.kind === 'bridge' && {
            PortBindings: { [`${innerPort}/tcp`]: [{ HostIp: '127.0.0.1', HostPort: String(port) }] },
            ExtraHosts: [`${PLATFORM_HOST}:host-gateway`],
          }),
          Mounts: [volumeOf(agentId)],
          Memory: spec.memoryBytes,
          NanoCpus: spec.nanoCpus,
          PidsLimit: MOST_PROCESSES,
          CapDrop: ['ALL'],
          SecurityOpt: ['no-new-privileges'],
          ReadonlyRootfs: true,
          Tmpfs: { '/tmp': `size=${TMP_BYTES}` },
          RestartPolicy: { Name: 'unless-stopped' },
        },
      }),
    );
  }

  const way: Way = {
    name: 'docker',
    create,
    async look(agentId) {
      const found = await askIfThere(container(agentId).inspect());
      return found && { image: found.Config.Image, restarts: found.RestartCount, container: found };
    },
    start: async (agentId) => void (await askIfThere(container(agentId).start())),
    async end(agentId, inTime) {
      if (inTime) await askIfThere(container(agentId).stop({ t: STOP_SECONDS }));
      await askIfThere(container(agentId).remove({ force: true }));
    },
    address: ({ Config }) => `http://127.0.0.1:${Config.Labels[PORT_LABEL]}`,
  };
  return createContainers(deps, way);
}
