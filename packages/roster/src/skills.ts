import type { SystemTx, UserTx } from '@troupe/db';
import { catalogueLine, isPlan, PLAN_LIMITS, SKILL_FILE, type SkillRef } from '@troupe/domain';
import { AppError, digestOf, fileDigest, newId, type ReadSkill } from '@troupe/kernel';
import { sql } from 'kysely';

/** The rows of skills, and which of them an agent is given. */

type Tx = UserTx | SystemTx;

/** A skill as its owner's library has it: its newest version. */
export interface LibrarySkill {
  id: string;
  versionId: string;
  number: number;
  name: string;
  description: string;
  digest: string;
}

export const refOf = ({ id, name, description, digest }: LibrarySkill): SkillRef => ({
  id,
  name,
  description: catalogueLine({ name, description }),
  digest,
});

/** The newest versions of somebody's skills, by name; of those that are named by id or name, or of all. */
export async function librarySkills(
  tx: Tx,
  userId: string,
  only: { ids?: readonly string[]; names?: readonly string[] } = {},
): Promise<LibrarySkill[]> {
  return tx
    .selectFrom('skills')
    .innerJoin('skill_versions', 'skill_versions.skill_id', 'skills.id')
    .distinctOn(['skills.name'])
    .select(['skills.id', 'skills.name', 'skill_versions.id as versionId', 'description', 'digest'])
    .select(sql<number>`number`.as('number'))
    .where('skills.user_id', '=', userId)
    .$if(only.ids !== undefined, (query) => query.where('skills.id', 'in', [...only.ids!, '']))
    .$if(only.names !== undefined, (query) => query.where('skills.name', 'in', [...only.names!, '']))
    .orderBy('skills.name')
    .orderBy('number', 'desc')
    .execute();
}

/** Keeps what was read as a version that waits for its owner's word. */
export async function addSkillVersion(
  tx: Tx,
  userId: string,
  skill: ReadSkill,
  { source, at }: { source: string; at: Date },
): Promise<string> {
  const id = newId();
  const { head, digest, bytes, files, scripts, hosts, findings, leftOut } = skill;
  const { name, description, ...rest } = head;
  await tx
    .insertInto('skill_versions')
    .values({
      id,
      user_id: userId,
      name,
      description,
      digest,
      head: { ...rest },
      report: JSON.stringify({ scripts, hosts, findings, leftOut }) as never,
      source,
      bytes,
      created_at: at,
    })
    .execute();
  await tx
    .insertInto('skill_files')
    .values(files.map((file) => ({ ...file, version_id: id, user_id: userId })))
    .execute();
  return id;
}

/** Two of one user's wait for each other until the transaction ends. */
export const lockSkills = (tx: Tx, userId: string) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`skills:${userId}`}, 0))`.execute(tx);

/** Makes a version that waits the newest of the skill of its name. Under `lockSkills`. */
export async function takeSkillVersion(
  tx: Tx,
  userId: string,
  { versionId, name, at }: { versionId: string; name: string; at: Date },
): Promise<LibrarySkill> {
  const { id } = await tx
    .insertInto('skills')
    .values({ id: newId(), user_id: userId, name, created_at: at, updated_at: at })
    .onConflict((conflict) => conflict.columns(['user_id', 'name']).doUpdateSet({ updated_at: at }))
    .returning('id')
    .executeTakeFirstOrThrow();
  await sql`update skill_versions set skill_id = ${id}, accepted_at = ${at},
    number = (select coalesce(max(number), 0) + 1 from skill_versions where skill_id = ${id})
    where id = ${versionId}`.execute(tx);
  const [taken] = await librarySkills(tx, userId, { ids: [id] });
  return taken!;
}

/** Skills of our own, with the platform: taken without a review, since they come with it. Answers those that are new. */
async function addBuiltIns(tx: Tx, userId: string, names: readonly string[], at: Date): Promise<LibrarySkill[]> {
  if (names.length === 0) return [];
  const added: LibrarySkill[] = [];
  for (const name of names) {
    const skill = await builtInSkill(name);
    if (!skill) continue;
    const versionId = await addSkillVersion(tx, userId, skill, { source: 'built-in', at });
    added.push(await takeSkillVersion(tx, userId, { versionId, name, at }));
  }
  return added;
}

/** One of our own as it would have been read; undefined: there is none of that name. */
export async function builtInSkill(name: string): Promise<ReadSkill | undefined> {
  const { BUILT_IN_SKILLS } = await import('@troupe/domain/built-in-skills');
  const found = BUILT_IN_SKILLS.find((one) => one.name === name);
  if (!found) return undefined;
  const { writeSkillMd } = await import('@troupe/domain/skill-md');
  const head = { name, description: found.description, license: 'MIT', metadata: {}, allowedTools: [] };
  const content = Buffer.from(writeSkillMd(head, found.body));
  return {
    head,
    digest: digestOf([{ path: SKILL_FILE, content }]),
    bytes: content.length,
    files: [{ path: SKILL_FILE, bytes: content.length, sha256: fileDigest(content), kind: 'text', content }],
    scripts: [],
    hosts: [],
    findings: [],
    leftOut: [],
  };
}

/** Which skills a new agent is to have. */
export interface WantedSkills {
  names: readonly string[] | 'all';
  /** A name that nobody knows is left out instead of refused. */
  lenient?: boolean;
}

const mostSkills = (plan: string) =>
  isPlan(plan) ? { plan, most: PLAN_LIMITS[plan].skills } : { plan: 'solo', most: 3 };

export function checkSkillCount(count: number, given: string): void {
  const { plan, most } = mostSkills(given);
  if (count > most) throw new AppError(400, `Too many skills for the ${plan} plan (max ${most})`);
}

/** What new agents are given, from their owner's library; what comes with the platform is put there first. */
export async function skillsFor(
  tx: UserTx,
  userId: string,
  agents: readonly { plan: string; skills?: WantedSkills }[],
  at: Date,
): Promise<SkillRef[][]> {
  if (agents.every(({ skills }) => skills === undefined)) return agents.map(() => []);
  await lockSkills(tx, userId);
  const known = new Map((await librarySkills(tx, userId)).map((skill) => [skill.name, skill]));
  const named = agents.flatMap(({ skills }) => (Array.isArray(skills?.names) ? (skills.names as string[]) : []));
  const missing = [...new Set(named)].filter((name) => !known.has(name));
  for (const added of await addBuiltIns(tx, userId, missing, at)) known.set(added.name, added);
  return agents.map(({ plan, skills }) => {
    if (!skills) return [];
    const names = skills.names === 'all' ? [...known.keys()] : [...new Set(skills.names)];
    const unknown = names.find((name) => !known.has(name));
    if (unknown !== undefined && !skills.lenient)
      throw new AppError(400, `There is no skill ${unknown} in your library`);
    const refs = names.flatMap((name) => known.get(name) ?? []).map(refOf);
    checkSkillCount(refs.length, plan);
    return refs;
  });
}
