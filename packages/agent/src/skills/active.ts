import type { SessionEvent } from '../session/events.ts';

/** Which skills a conversation has activated: told by its log alone. */

export const ACTIVATE_SKILL = 'activate_skill';

export interface ActiveSkill {
  name: string;
  /** The first figures of its digest. */
  version: string;
  content: string;
}

/** Of all skills that stay in a prompt whatever is summed up. */
const KEPT_CHARACTERS = 60_000;

export const versionOf = (digest: string): string => digest.slice(0, 12);
export const skillTitle = (name: string, digest: string): string => `Skill ${name} (sha256:${versionOf(digest)})`;
const TITLE = /^Skill ([a-z0-9-]+) \(sha256:([0-9a-f]{12})\)\n/;

export function activeSkills(events: readonly SessionEvent[]): ActiveSkill[] {
  const active = new Map<string, ActiveSkill>();
  for (const event of events) {
    if (event.type === 'compaction') for (const skill of event.skills ?? []) active.set(skill.name, skill);
    if (event.type !== 'tool_result' || event.tool !== ACTIVATE_SKILL || event.isError) continue;
    const [, name, version] = TITLE.exec(event.content) ?? [];
    if (name !== undefined && version !== undefined) active.set(name, { name, version, content: event.content });
  }
  return [...active.values()];
}

/** Those that outlive a summary: the newest, as far as there is room. */
export function keptSkills(events: readonly SessionEvent[]): ActiveSkill[] {
  let room = KEPT_CHARACTERS;
  return activeSkills(events)
    .toReversed()
    .filter(({ content }) => (room -= content.length) >= 0)
    .toReversed();
}
