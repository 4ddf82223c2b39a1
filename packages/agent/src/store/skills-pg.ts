import type { Database } from '@troupe/db';
import type { SkillSource } from '../skills/shelf.ts';

/** The files of a skill of an owner's library, by their digest. Only what was accepted is found. */
export function pgSkills({ db, userId }: { db: Database; userId: string }): SkillSource {
  return async (digest) => {
    const tx = db.user(userId);
    const version = await tx
      .selectFrom('skill_versions')
      .select('id')
      .where('user_id', '=', userId)
      .where('digest', '=', digest)
      .where('skill_id', 'is not', null)
      .limit(1)
      .executeTakeFirst();
    if (!version) return undefined;
    return tx.selectFrom('skill_files').select(['path', 'content']).where('version_id', '=', version.id).execute();
  };
}
