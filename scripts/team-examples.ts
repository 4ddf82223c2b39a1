import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { readTeamYaml } from '@troupe/domain/team-yaml';

/**
 * `npm run teams:examples -- FOLDER`: how the documents of others are taken, as those in the examples folder of docker-agent:
 * whole, with what is missing named, or refused by name. Fails when it is less than docs/teams.md says.
 */

/** Of 84. */
const WHOLE = 75 / 84;

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Which folder? npm run teams:examples -- FOLDER');
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.ya?ml$/.test(file))
  .sort();

const found: Record<'whole' | 'named' | 'refused', string[]> = { whole: [], named: [], refused: [] };
for (const file of files) {
  const reading = readTeamYaml(readFileSync(path.join(folder, file), 'utf8'));
  if (!reading.ok) found.refused.push(`${file}: ${reading.error}`);
  else if (reading.notCarried.length === 0) found.whole.push(file);
  else found.named.push(`${file}: ${reading.notCarried.map(({ at, says }) => `${at}: ${says}`).join('; ')}`);
}
for (const kind of ['refused', 'named'] as const) for (const line of found[kind]) console.log(`${kind}  ${line}`);
const { whole, named, refused } = found;
console.log(
  `${files.length}: ${whole.length} whole, ${named.length} with what is missing named, ${refused.length} refused`,
);
if (whole.length < files.length * WHOLE) process.exitCode = 1;
