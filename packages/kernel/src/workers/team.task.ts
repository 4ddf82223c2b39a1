import { teamFromCustom, type CustomAgent, type TeamReading } from '@troupe/domain';
import { readTeamYaml, teamYaml } from '@troupe/domain/team-yaml';

/** A team as somebody sent it: a document, or agents of their own. */
export type TeamGiven = { yaml: string } | { agents: CustomAgent[] };

/** The team and its document; reading and writing YAML may take anything from milliseconds to minutes. */
export function run(given: TeamGiven): { reading: TeamReading; yaml: string } {
  const reading = 'yaml' in given ? readTeamYaml(given.yaml) : teamFromCustom(given.agents);
  return { reading, yaml: reading.ok ? teamYaml(reading.team) : '' };
}
