import { AGENT_NOT_FOUND, TASK_NOT_FOUND } from '@troupe/contract';
import type { VersionedDefinition } from '@troupe/domain';
import { AppError } from '@troupe/kernel';
import type { Kept } from './agent.ts';
import type { BackgroundTask } from './store/background.ts';
import type { AgentStore } from './store/store.ts';
import type { Workspace } from './workspace/workspace.ts';

export interface KeptDeps {
  agentId: string;
  /** Whose it is, among others in this process; undefined: nobody else's are here. */
  owner?: string;
  store: AgentStore;
  workspace?: () => Promise<Workspace>;
  /** It does not run. */
  isStopped?: boolean;
}

const noFiles = async (): Promise<never> => {
  throw new AppError(409, 'This agent has no files');
};

/** An agent to be read from: it holds nothing open, has no timer and begins nothing, so nobody has to let go of it. */
export class KeptAgent implements Kept {
  readonly id: string;
  readonly owner: string;
  readonly store: AgentStore;
  readonly workspace: () => Promise<Workspace>;
  readonly isStopped: boolean;

  constructor({ agentId, owner = agentId, store, workspace = noFiles, isStopped = false }: KeptDeps) {
    this.id = agentId;
    this.owner = owner;
    this.store = store;
    this.workspace = workspace;
    this.isStopped = isStopped;
  }

  async definition(): Promise<VersionedDefinition> {
    const found = await this.store.definition();
    if (!found) throw new AppError(404, AGENT_NOT_FOUND);
    return found;
  }

  async task(id: string): Promise<BackgroundTask> {
    const found = await this.store.task(id);
    if (!found) throw new AppError(404, TASK_NOT_FOUND);
    return found;
  }

  busy(): number {
    return 0;
  }
}
