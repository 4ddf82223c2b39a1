import { parseDocument, stringify } from 'yaml';
import { repeatedKey } from '../yaml-keys.ts';
import { readTeam, type Team, type TeamReading } from './team.ts';

/** Apart from the rest of the package: the library takes 5 MB and is loaded where a document is read or written. */

/**
 * Reads a team's YAML. The error names the place. The library takes seconds for some texts of a few kilobytes: what a
 * user sends is read in a thread with a deadline.
 */
export function readTeamYaml(text: string): TeamReading {
  let raw: unknown;
  try {
    // Its own check of keys compares each with each.
    const document = parseDocument(text, { uniqueKeys: false });
    const [error] = document.errors;
    if (error) throw error;
    const twice = repeatedKey(document);
    if (twice !== undefined) throw new Error(`the key ${twice.slice(0, 100)} stands twice in the same place`);
    raw = document.toJS({ maxAliasCount: 20 });
  } catch (error) {
    return { ok: false, error: `Not valid YAML: ${(error as Error).message.split('\n')[0]}` };
  }
  return readTeam(raw);
}

/** The team's YAML; reading it back gives the same team. */
export function teamYaml({ name, description, agents }: Team): string {
  return stringify(
    {
      name,
      description,
      agents: Object.fromEntries(
        agents.map((one) => [
          one.name,
          {
            role: one.role,
            description: one.description,
            model: one.model,
            tools: one.tools,
            ...(one.mcp.length > 0 ? { toolsets: one.mcp } : {}),
            memory_shared: one.memoryShared,
            ...(one.subAgents.length > 0 ? { sub_agents: one.subAgents } : {}),
            ...(one.skills.length > 0 ? { skills: one.skills === 'all' ? true : one.skills } : {}),
            instruction: one.instruction,
          },
        ]),
      ),
    },
    { lineWidth: 0 },
  );
}
