import type { AgentDefinition } from '@troupe/domain';
import type { Outbound, WorkerPool } from '@troupe/kernel';
import { a2aTools } from './a2a.ts';
import { apiTools } from './api.ts';
import { modelPickerTools } from './model-picker.ts';
import { createOpenApi } from './openapi.ts';
import { withPostEdit } from './post-edit.ts';
import { scriptTools } from './script.ts';
import type { RunCommand } from './shell.ts';
import type { Tool } from './tool.ts';

export interface WrittenDeps {
  outbound: Outbound;
  pool: WorkerPool;
  /** Whose agent it is. */
  owner: string;
  /** What runs commands, made when one is needed. */
  runner: () => Promise<RunCommand>;
  onFailure: (url: string, why: string) => void;
}

/** Tools that an agent's definition describes itself, and what it has done after those of its own. */
export function createWritten(deps: WrittenDeps) {
  const { outbound, runner } = deps;
  const interfaces = createOpenApi(deps);
  return {
    async tools({ traits }: AgentDefinition): Promise<Tool[]> {
      if (!traits) return [];
      const { scripts, apis = [], pickable, agents = [], openapi = [] } = traits;
      return [
        ...(scripts ? scriptTools(scripts, await runner()) : []),
        ...apiTools(apis, outbound),
        ...a2aTools(agents, outbound),
        ...(openapi.length > 0 ? await interfaces(openapi) : []),
        ...(pickable ? modelPickerTools(pickable) : []),
      ];
    },
    async after({ traits }: AgentDefinition, own: readonly Tool[]): Promise<readonly Tool[]> {
      return traits?.postEdit ? withPostEdit(own, traits.postEdit, await runner()) : own;
    },
  };
}
