import type { UserTx } from '@troupe/db';
import { AppError, type ReadSkill } from '@troupe/kernel';
import { sql } from 'kysely';
import { addSkillVersion, librarySkills, lockSkills, takeSkillVersion } from './skills.ts';

/** The library of a user: what comes in, what is taken, what goes. Each within what a user may have, under one lock. */

const MB = 1024 * 1024;
/** Of all that a user has, older versions and reviews included. */
const MOST_BYTES = 200 * MB;
const REVIEW_DAYS = 7;
const DAY_MS = 86_400_000;
const VERSIONS_KEPT = 5;

const lockReview = (tx: UserTx, id: string) =>
  tx
    .selectFrom('skill_versions')
    .select(['id', 'name', 'digest'])
    .where('id', '=', id)
    .where('skill_id', 'is', null)
    .forUpdate()
    .executeTakeFirst();

export async function dropSkillReview(tx: UserTx, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('skill_versions')
    .where('id', '=', id)
    .where('skill_id', 'is', null)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

const removeOldReviews = (tx: UserTx, before: Date) =>
  tx.deleteFrom('skill_versions').where('skill_id', 'is', null).where('created_at', '<', before).execute();

/** How many wait, how many skills there are, and how large everything is together. */
async function countAll(tx: UserTx): Promise<{ reviews: number; skills: number; bytes: number }> {
  const { rows } = await sql<{ reviews: number; skills: number; bytes: number }>`
    select (count(*) filter (where skill_id is null))::integer as reviews,
      (count(distinct skill_id))::integer as skills, coalesce(sum(bytes), 0)::float8 as bytes
    from skill_versions`.execute(tx);
  return rows[0]!;
}

interface Given {
  agentId: string;
  name: string;
  skillId: string;
  digest: string;
}

/** Which agents have which skills now. */
export async function skillsGiven(tx: UserTx): Promise<Given[]> {
  const { rows } = await sql<Given>`
    select agents.id as "agentId", agents.name, skill ->> 'id' as "skillId", skill ->> 'digest' as digest
    from agents cross join lateral (
      select definition from agent_definitions where agent_id = agents.id order by version desc limit 1
    ) newest cross join lateral jsonb_array_elements(coalesce(newest.definition -> 'skills', '[]')) skill
    order by agents.name, agents.id`.execute(tx);
  return rows;
}

/** Versions of a skill that nobody has, but for the newest few. */
const removeOldVersions = (tx: UserTx, skillId: string, kept: number, digests: readonly string[]) =>
  tx
    .deleteFrom('skill_versions')
    .where('skill_id', '=', skillId)
    .where('digest', 'not in', [...digests, ''])
    .where(
      'id',
      'not in',
      tx
        .selectFrom('skill_versions')
        .select('id')
        .where('skill_id', '=', skillId)
        .orderBy('number', 'desc')
        .limit(kept),
    )
    .execute();

/** Keeps what was read as something that waits for its owner's word. Under `lockSkills`. */
export async function keepSkillReview(
  tx: UserTx,
  userId: string,
  skill: ReadSkill,
  { source, at, most }: { source: string; at: Date; most: number },
): Promise<string> {
  await removeOldReviews(tx, new Date(at.getTime() - REVIEW_DAYS * DAY_MS));
  const { reviews, bytes } = await countAll(tx);
  if (reviews >= most)
    throw new AppError(409, `Too many skills wait for a review (max ${most}). Accept or drop one first`);
  if (bytes + skill.bytes > MOST_BYTES)
    throw new AppError(409, `Your skills take more than ${MOST_BYTES / MB} MB. Delete one first`);
  return addSkillVersion(tx, userId, skill, { source, at });
}

/** Takes what waits into the library, as what was seen. Answers the skill's id. */
export async function acceptSkillReview(
  tx: UserTx,
  userId: string,
  id: string,
  { digest, at, most }: { digest: string; at: Date; most: number },
): Promise<string> {
  await lockSkills(tx, userId);
  const found = await lockReview(tx, id);
  if (!found) throw new AppError(404, 'Review not found');
  if (found.digest !== digest) throw new AppError(409, 'The skill has changed since: look at it again');
  const [before] = await librarySkills(tx, userId, { names: [found.name] });
  if (before?.digest === digest) {
    await dropSkillReview(tx, id);
    return before.id;
  }
  if (!before && (await countAll(tx)).skills >= most)
    throw new AppError(409, `Too many skills in your library (max ${most}). Delete one first`);
  const taken = await takeSkillVersion(tx, userId, { versionId: id, name: found.name, at });
  const used = (await skillsGiven(tx)).map((given) => given.digest);
  await removeOldVersions(tx, taken.id, VERSIONS_KEPT, used);
  return taken.id;
}

/** Deletes a skill that no agent has. */
export async function removeSkill(tx: UserTx, userId: string, id: string): Promise<void> {
  await lockSkills(tx, userId);
  const users = (await skillsGiven(tx)).filter(({ skillId }) => skillId === id).map(({ name }) => name);
  if (users.length > 0) {
    const names = users.slice(0, 10).join(', ');
    throw new AppError(409, `Agents have this skill: ${names}. Switch it off there first`);
  }
  const { numDeletedRows } = await tx.deleteFrom('skills').where('id', '=', id).executeTakeFirst();
  if (numDeletedRows === 0n) throw new AppError(404, 'Skill not found');
}
