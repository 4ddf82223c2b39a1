import type { ScheduledTask } from '@troupe/contract';

/** What the form of a task holds: the task itself, or what a new one begins with. */
export const draftOf = (task: ScheduledTask | undefined, firstAgent: string | undefined, zone: string) => ({
  name: task?.name ?? '',
  description: task?.description ?? '',
  agentId: task?.agentId ?? firstAgent ?? '',
  prompt: task?.prompt ?? '',
  cronSchedule: task?.cronSchedule ?? '0 9 * * *',
  timezone: task?.timezone ?? zone,
  enabled: task?.enabled ?? true,
  tells: task?.tells ?? null,
});

export type TaskDraft = ReturnType<typeof draftOf>;

/** The zones to choose from, the chosen one among them: a task may have one that this browser does not know. */
export const zonesFor = (chosen: string, known: readonly string[]): string[] => [...new Set([chosen, 'UTC', ...known])];
