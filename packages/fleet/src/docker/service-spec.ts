import type Docker from 'dockerode';
import { sha256Hex } from '@troupe/kernel';
import { AGENT_UID, NODE, PROGRAM } from './image.ts';
import { nameOf, STOP_SECONDS, TMP_BYTES } from './spec.ts';

const NAMEABLE = /^[a-zA-Z0-9](?:[a-zA-Z0-9-_]{0,61}[a-zA-Z0-9])?$/;
const SECOND = 1e9;
const TMP = { SizeBytes: TMP_BYTES, Mode: 0o1777 };

export const ONE_REPLICA = { Replicated: { Replicas: 1 } };

/** A swarm takes shorter names than ids may be. */
export const serviceOf = (agentId: string): string =>
  NAMEABLE.test(nameOf(agentId)) ? nameOf(agentId) : nameOf(sha256Hex(agentId).slice(0, 40));

export interface ServiceGiven {
  name: string;
  labels: Record<string, string>;
  image: string;
  env: string[];
  /** Of its containers. */
  containerLabels: Record<string, string>;
  data: Docker.MountSettings;
  hosts?: string[];
  limits: { MemoryBytes: number; NanoCPUs: number; Pids: number };
  reserved?: { MemoryBytes: number; NanoCPUs: number };
  constraints: string[];
  network: string;
  endpoints?: Docker.EndpointSpec;
}

/** A service of one replica that runs the agents' program and may nothing but compute. */
export const serviceSpec = (given: ServiceGiven): Docker.CreateServiceOptions => ({
  Name: given.name,
  Labels: given.labels,
  Mode: ONE_REPLICA,
  ...(given.endpoints && { EndpointSpec: given.endpoints }),
  TaskTemplate: {
    ContainerSpec: {
      Image: given.image,
      Command: [NODE, PROGRAM],
      User: `${AGENT_UID}:${AGENT_UID}`,
      Env: given.env,
      Labels: given.containerLabels,
      Mounts: [given.data, { Type: 'tmpfs', Source: '', Target: '/tmp', TmpfsOptions: TMP }],
      ...(given.hosts && { Hosts: given.hosts }),
      ReadOnly: true,
      CapabilityDrop: ['ALL'],
      StopGracePeriod: STOP_SECONDS * SECOND,
    },
    Resources: { Limits: given.limits, ...(given.reserved && { Reservations: given.reserved }) },
    RestartPolicy: { Condition: 'any', Delay: SECOND },
    Placement: { Constraints: given.constraints },
    Networks: [{ Target: given.network }],
  },
});
