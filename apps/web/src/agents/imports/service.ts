import type { Subscriber, Plan } from '@troupe/domain';
import { AppError, readImportOf, type ImportPlan, type Log, type User, type WorkerPool } from '@troupe/kernel';
import { requireEntitlement } from '../agents/service.ts';
import type { FilesService } from '../files/service.ts';
import type { MemoryService } from '../memory/service.ts';
import type { SkillsService } from '../skills/service.ts';
import type { TasksService } from '../tasks/service.ts';
import { createUndo, shown, type TeamsService, type Undo } from '../teams/service.ts';

export interface ImportsDeps {
  teams: TeamsService;
  skills: SkillsService;
  files: FilesService;
  memory: MemoryService;
  tasks: TasksService;
  pool: WorkerPool;
  subscriber: (user: User) => Subscriber;
  log: Log;
}

export type ImportsService = ReturnType<typeof createImports>;

interface Chosen {
  name: string;
  path?: string | undefined;
}

const MEMORIES_AT_ONCE = 50;

/** What is told of an import, before it is made and after. */
const listed = ({ format, collections, workspace, memories, skills, tasks, notCarried, toGive, yaml }: ImportPlan) => ({
  format,
  collections: collections.map(({ name, files }) => ({ name, documents: files.length })),
  files: workspace.map(({ agent, path }) => ({ agent, path })),
  memories: memories.map(({ agent, key }) => ({ agent, key })),
  skills: skills.map(({ name }) => name),
  tasks: tasks.map(({ agent, name, cronSchedule, timezone }) => ({ agent, name, cronSchedule, timezone })),
  notCarried,
  toGive,
  yaml_config: yaml,
});

/** What goes to a thread takes along all that it is a part of; what is whole is not copied. */
const apart = (bytes: Buffer): Uint8Array<ArrayBuffer> =>
  bytes.buffer instanceof ArrayBuffer && bytes.length === bytes.buffer.byteLength
    ? new Uint8Array(bytes.buffer)
    : new Uint8Array(bytes);

/** Files of others, read in a thread, and made into what is ours: all of it, or nothing. */
export function createImports(deps: ImportsDeps) {
  const { teams, pool, subscriber, log } = deps;

  async function read(user: User, { name, path }: Chosen, bytes: Buffer, dry: boolean): Promise<ImportPlan> {
    if (bytes.length === 0) throw new AppError(400, 'The file is empty');
    const reading = await readImportOf(pool, user.id, { bytes: apart(bytes), name, path, dry });
    if (!reading.ok) throw new AppError(400, `Cannot be imported: ${reading.error}`);
    return reading.plan;
  }

  async function make(user: User, plan: ImportPlan, on: Plan, undo: Undo, address: string) {
    for (const { files } of plan.skills) {
      const given = files.map(({ path, content }) => ({
        path,
        content: Buffer.from(content).toString('base64'),
        encoding: 'base64' as const,
      }));
      const { id } = await deps.skills.review(user, { files: given });
      undo.add(() => deps.skills.drop(user.id, id));
    }
    const files = new Map(plan.collections.map((one) => [one.name, one.files]));
    const { team, yaml } = plan;
    const made = await teams.make(user, { team, yaml, plan: on, files }, undo, address);
    const failed = made.agents.find(({ status }) => status === 'failed');
    if (failed)
      throw new AppError(502, `The agent ${failed.name} could not be started: ${failed.error ?? 'no reason'}`);
    const ids = new Map(made.agents.map(({ name, agentId }) => [name, agentId]));
    await fill(deps, user, plan, ids, undo, address);
    return made;
  }

  return {
    async preview(user: User, chosen: Chosen, bytes: Buffer) {
      const plan = await read(user, chosen, bytes, true);
      return { ...shown(plan), ...listed(plan) };
    },

    async create(user: User, chosen: Chosen & { plan?: string | undefined }, bytes: Buffer, address: string) {
      const on = requireEntitlement(subscriber(user), chosen.plan, 'network');
      const plan = await read(user, chosen, bytes, false);
      teams.sized(plan.team, on);
      const undo = createUndo(log);
      const { teamId, agents } = await undo.unless(() => make(user, plan, on, undo, address));
      return {
        success: true as const,
        teamId,
        name: plan.team.name,
        agents: agents.map(({ name, agentId, url }) => ({ name, agentId, url })),
        ...listed(plan),
      };
    },
  };
}

/** Files, memories and tasks of agents that are there; the first two go with their agents. */
async function fill(
  { files, memory, tasks }: ImportsDeps,
  user: User,
  plan: ImportPlan,
  ids: ReadonlyMap<string, string>,
  undo: Undo,
  address: string,
): Promise<void> {
  const idOf = (agent: string): string => ids.get(agent) ?? '';
  for (const { agent, path, content } of plan.workspace)
    await files.put(user, idOf(agent), { path }, Buffer.from(content), address);
  for (const [agent, agentId] of ids) {
    const own = plan.memories.filter((one) => one.agent === agent);
    for (let at = 0; at < own.length; at += MEMORIES_AT_ONCE) {
      const entries = own.slice(at, at + MEMORIES_AT_ONCE).map(({ key, content }) => [key, content] as const);
      await memory.write(user, { agentId, memory: Object.fromEntries(entries) }, address);
    }
  }
  for (const { agent, ...task } of plan.tasks) {
    const { id } = await tasks.create(user, { ...task, agentId: idOf(agent) });
    undo.add(() => tasks.remove(user.id, id));
  }
}
