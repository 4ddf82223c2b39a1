import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import { DriverError } from '../driver.ts';
import type { Found } from '../outside.ts';
import { ask, askIfThere } from './calls.ts';
import { ONE_REPLICA, serviceSpec, type ServiceGiven } from './service-spec.ts';
import { INNER_PORT } from './spec.ts';

/** Services of one replica on any node of a swarm, as its managers tell of them: no other engine is asked. */

export interface Task {
  ID: string;
  ServiceID: string;
  NodeID?: string;
  CreatedAt: string;
  DesiredState: string;
  Status: { State: string; Err?: string; Message?: string; ContainerStatus?: { ContainerID?: string } };
  NetworksAttachments?: { Network?: { Spec?: { Name?: string } }; Addresses?: string[] }[];
}

interface Told {
  Spec: Docker.ServiceSpec & {
    TaskTemplate: { ContainerSpec: { Image: string } };
    Mode: typeof ONE_REPLICA;
  };
  Version: { Index: number };
}

export interface Service {
  image: string;
  /** Newest first; those that ended are kept by the swarm for a while. */
  tasks: Task[];
}

const POLL_MS = 200;
const END_MS = 120_000;
/** What a container of a task may exist in, or come into existence after. */
const UP = new Set(['assigned', 'accepted', 'preparing', 'ready', 'starting', 'running']);
const ENDED = new Set(['failed', 'rejected', 'complete']);
const NO_IMAGE = /No such image|pull access denied|manifest unknown/i;

/** The one that serves, if it does. */
export const runningOf = ({ tasks }: Service): Task | undefined =>
  tasks.find(({ DesiredState, Status }) => DesiredState === 'running' && Status.State === 'running');

/** Where a task listens, in that network. */
function addressOf(task: Task | undefined, network: string): string | undefined {
  const attached = task?.NetworksAttachments?.find(({ Network }) => Network?.Spec?.Name === network);
  const [ip] = attached?.Addresses?.[0]?.split('/') ?? [];
  return ip && `http://${ip.includes(':') ? `[${ip}]` : ip}:${INNER_PORT}`;
}

export function foundOf(service: Service, network: string): Found {
  const { tasks } = service;
  const { State = '', Err = '' } = tasks[0]?.Status ?? {};
  // The swarm tries again and again: the newest need not have come so far.
  const without = tasks.find(({ Status }) => Status.State === 'rejected' && NO_IMAGE.test(Status.Err ?? ''));
  return {
    address: addressOf(runningOf(service), network),
    restarts: tasks.filter(({ Status }) => ENDED.has(Status.State)).length,
    problem: without && `A node of the swarm has no such image: ${without.Status.Err}`,
    waitsFor: State === 'pending' && Err !== '' ? `The swarm has no place for the agent: ${Err}` : undefined,
  };
}

/** What the managers are asked about one service. */
function createTold(engine: Docker) {
  return {
    inspect: (name: string): Promise<Told | undefined> =>
      askIfThere(engine.getService(name).inspect() as Promise<unknown>) as Promise<Told | undefined>,
    async tasksOf(name: string): Promise<Task[]> {
      const found = await askIfThere(engine.listTasks({ filters: { service: [name] } }) as Promise<unknown>);
      return ((found ?? []) as Task[]).toSorted((a, b) => (a.CreatedAt < b.CreatedAt ? 1 : -1));
    },
    nodes: async (): Promise<SwarmNode[]> => (await ask(engine.listNodes() as Promise<unknown>)) as SwarmNode[],
  };
}

interface SwarmNode {
  ID: string;
  Status: { State: string };
  Description?: { Resources?: { NanoCPUs?: number } };
}

/** Has a service run, or not. */
function createScaling(engine: Docker, { inspect, tasksOf, nodes }: ReturnType<typeof createTold>) {
  async function scale(name: string, replicas: number): Promise<void> {
    for (let told = await inspect(name); told && told.Spec.Mode.Replicated.Replicas !== replicas;) {
      const { Index } = told.Version;
      const change = { ...told.Spec, version: Index, Mode: { Replicated: { Replicas: replicas } } };
      const failed = await ask(engine.getService(name).update(change)).then(
        () => undefined,
        (error: unknown) => ({ error }),
      );
      if (!failed) return;
      told = await inspect(name);
      // Unless the swarm itself, or somebody, was faster.
      if (told?.Version.Index === Index) throw failed.error;
    }
  }

  /** Returns when nothing of it runs on any node that answers; then it is forgotten. */
  async function end(name: string): Promise<void> {
    if (!(await inspect(name))) return;
    // A service that is removed at once tells of its tasks no more.
    await scale(name, 0);
    for (const deadline = Date.now() + END_MS; ; await delay(POLL_MS)) {
      // Nobody knows what those do: what runs there ends itself when another takes its place.
      const gone = new Set((await nodes()).filter(({ Status }) => Status.State === 'down').map(({ ID }) => ID));
      const up = ({ NodeID = '', Status }: Task): boolean => NodeID !== '' && !gone.has(NodeID) && UP.has(Status.State);
      if (!(await tasksOf(name)).some(up)) break;
      if (Date.now() > deadline) throw new DriverError('The swarm did not end the agent in time');
    }
    await askIfThere(engine.getService(name).remove());
  }

  return { start: (name: string): Promise<void> => scale(name, ONE_REPLICA.Replicated.Replicas), end };
}

export function createServices(engine: Docker) {
  const told = createTold(engine);
  return {
    ...createScaling(engine, told),
    create: async (given: ServiceGiven): Promise<void> => void (await ask(engine.createService(serviceSpec(given)))),
    async find(name: string): Promise<Service | undefined> {
      const found = await told.inspect(name);
      return found && { image: found.Spec.TaskTemplate.ContainerSpec.Image, tasks: await told.tasksOf(name) };
    },
    /** Of the smallest node: the engine of one that has less would refuse what is allowed more. */
    fewestCpus: async (): Promise<number> =>
      Math.min(...(await told.nodes()).map(({ Description }) => Description?.Resources?.NanoCPUs ?? Infinity)),
    /** What a label of each of the services that run says. */
    async labelled(label: string): Promise<Set<string>> {
      const [services, tasks] = (await Promise.all([
        ask(engine.listServices({ filters: { label: [label] } }) as Promise<unknown>),
        ask(engine.listTasks({ filters: { 'desired-state': ['running'] } }) as Promise<unknown>),
      ])) as [{ ID: string; Spec: { Labels: Record<string, string> } }[], Task[]];
      const running = new Set(tasks.filter(({ Status }) => Status.State === 'running').map((task) => task.ServiceID));
      return new Set(services.filter(({ ID }) => running.has(ID)).map(({ Spec }) => Spec.Labels[label]!));
    },
  };
}
export type Services = ReturnType<typeof createServices>;
