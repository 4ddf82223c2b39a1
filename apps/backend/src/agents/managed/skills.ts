import { Readable } from 'node:stream';
import { MOST_REVIEWS, MOST_SKILLS, type backend, type TypesOf } from '@troupe/contract';
import { isOrphan, type Database } from '@troupe/db';
import {
  AppError,
  createZipWriter,
  iso,
  readForm,
  readSkillOf,
  respond,
  type Answer,
  type Clock,
  type ReadSkill,
  type RequestInfo,
  type WorkerPool,
} from '@troupe/kernel';
import {
  acceptSkillReview,
  keepSkillReview,
  librarySkills,
  lockSkills,
  removeSkill,
  skillsGiven,
} from '@troupe/roster';
import { paged, type ListQuery } from './paging.ts';
import * as rows from './skills-store.ts';

/**
 * Skills of the library, for programs of its owner. What they bring is read and looked through as everything is; it is taken
 * at once where nothing was found that a person should see first, and waits for one otherwise.
 */

export interface SkillsDeps {
  db: Database;
  clock: Clock;
  pool: WorkerPool;
}

type Skill = Exclude<TypesOf<typeof backend.managed.getSkill>['reply'], { files: unknown }>;
type Version = TypesOf<typeof backend.managed.getSkillVersion>['reply'];
export type ManagedSkills = ReturnType<typeof createManagedSkills>;

const MOST_PARTS = 300;
const MOST_SHOWN_NAME = 255;

const shown = (row: rows.SkillRow): Skill => ({
  type: 'skill',
  id: row.id,
  display_name: row.display_name ?? row.name,
  latest_version_id: row.digest,
  source: { type: 'custom' },
  created_at: iso(row.created_at),
  updated_at: iso(row.updated_at),
});

const shownVersion = (skillId: string, row: rows.VersionRow): Version => ({
  type: 'skill_version',
  id: row.digest,
  skill_id: skillId,
  name: row.name,
  description: row.description,
  created_at: iso(row.accepted_at ?? new Date(0)),
});

/** What a form brings: files that lie in one folder, or an archive of them, and what it is to be called. */
function readGiven({ headers, bytes }: Pick<RequestInfo, 'headers' | 'bytes'>) {
  const { fields, every } = readForm(headers['content-type'], bytes, MOST_PARTS);
  const files = every.filter(({ field }) => field === 'files[]' || field === 'files');
  const other = [...fields.keys(), ...every.map(({ field }) => field)].find(
    (name) => name !== 'files[]' && name !== 'files' && name !== 'display_name',
  );
  if (other !== undefined) throw new AppError(400, `${other.slice(0, 100) || 'a field'}: not known here`);
  if (files.length === 0) throw new AppError(400, 'files required');
  const name = fields.get('display_name')?.trim();
  if (name !== undefined && (name.length > MOST_SHOWN_NAME || /\p{Cc}/u.test(name)))
    throw new AppError(400, 'display_name may have 255 characters in one line');
  // Copied: what crosses between threads brings the whole of what it is a part of.
  const copied = files.map(({ path, bytes: content }) => ({ path, content: new Uint8Array(content) }));
  const [first] = copied;
  const isArchive = copied.length === 1 && !first!.path.endsWith('SKILL.md');
  return { given: isArchive ? { bytes: first!.content } : { files: copied }, name: name || undefined };
}

export function createManagedSkills(deps: SkillsDeps) {
  const { db } = deps;
  const got = async (userId: string, id: string): Promise<rows.SkillRow> => {
    const [row] = await rows.skills(db, userId, { ids: [id], limit: 1, offset: 0 });
    if (!row) throw new AppError(404, 'Skill not found');
    return row;
  };
  return { ...taking(deps, got), ...removing(deps), ...reading(deps, got), ...choosing(deps) };
}

type Got = (userId: string, id: string) => Promise<rows.SkillRow>;

function taking({ db, clock, pool }: SkillsDeps, got: Got) {
  async function read(userId: string, request: RequestInfo) {
    const { given, name } = readGiven(request);
    const reading = await readSkillOf(pool, userId, given);
    if (!reading.ok) throw new AppError(400, reading.error);
    return { skill: reading.skill, name };
  }

  /** In one transaction, unless a person should see it first: then it waits, and its sender is told. */
  async function take(userId: string, skill: ReadSkill, check: (before: string | undefined) => void): Promise<string> {
    const danger = skill.findings.find(({ level }) => level === 'danger');
    const made = db.asUser(userId, async (tx) => {
      await lockSkills(tx, userId);
      const [before] = await librarySkills(tx, userId, { names: [skill.head.name] });
      check(before?.id);
      const at = clock();
      const id = await keepSkillReview(tx, userId, skill, { source: 'files', at, most: MOST_REVIEWS });
      if (danger) return undefined;
      return acceptSkillReview(tx, userId, id, { digest: skill.digest, at, most: MOST_SKILLS });
    });
    const taken = await made.catch((cause: unknown) => {
      throw isOrphan(cause) ? new AppError(404, 'User not found', {}, { cause }) : cause;
    });
    if (taken !== undefined) return taken;
    const { text, path } = danger!;
    throw new AppError(
      409,
      `It waits for your review in the dashboard, since something in it should be looked at first: ${text} (${path})`,
    );
  }

  return {
    async create(userId: string, request: RequestInfo): Promise<Skill> {
      const { skill, name } = await read(userId, request);
      const id = await take(userId, skill, (before) => {
        if (before !== undefined)
          throw new AppError(409, `There is a skill ${skill.head.name} already: make a version of it`);
      });
      if (name !== undefined) await db.asUser(userId, (tx) => rows.callSkill(tx, id, name));
      return shown(await got(userId, id));
    },
    async addVersion(userId: string, id: string, request: RequestInfo): Promise<Version> {
      const { name } = await got(userId, id);
      const { skill } = await read(userId, request);
      if (skill.head.name !== name) throw new AppError(400, `The skill is called ${name}, and so must its versions be`);
      await take(userId, skill, () => undefined);
      const row = await rows.version(db.user(userId), id, skill.digest);
      if (!row) throw new AppError(404, 'Skill not found');
      return shownVersion(id, row);
    },
  };
}

function removing({ db }: SkillsDeps) {
  return {
    async remove(userId: string, id: string) {
      await db.asUser(userId, (tx) => removeSkill(tx, userId, id));
      return { id, type: 'skill_deleted' as const };
    },
    async removeVersion(userId: string, id: string, digest: string) {
      await db.asUser(userId, async (tx) => {
        await lockSkills(tx, userId);
        if (!(await rows.version(tx, id, digest))) throw new AppError(404, 'Skill version not found');
        const given = (await skillsGiven(tx)).filter((one) => one.skillId === id && one.digest === digest);
        const names = given.slice(0, 10).map((one) => one.name);
        if (names.length > 0)
          throw new AppError(409, `Agents have this skill: ${names.join(', ')}. Switch it off there first`);
        await rows.removeVersion(tx, id, digest);
        if (!(await rows.version(tx, id))) throw new AppError(409, 'It is the only version: delete the skill');
      });
      return { id: digest, type: 'skill_version_deleted' as const };
    },
  };
}

function reading({ db }: SkillsDeps, got: Got) {
  const one = async (userId: string, id: string, digest: string): Promise<rows.VersionRow> => {
    await got(userId, id);
    const row = await rows.version(db.user(userId), id, digest === 'latest' ? undefined : digest);
    if (!row) throw new AppError(404, 'Skill version not found');
    return row;
  };
  const every = (query: Omit<ListQuery, 'include_archived'>) => ({ ...query, include_archived: 'true' as const });
  return {
    get: async (userId: string, id: string) => shown(await got(userId, id)),
    /** Anthropic's own are not here. */
    list: (
      userId: string,
      { source, ...query }: Omit<ListQuery, 'include_archived'> & { source?: string | undefined },
    ) => paged(every(query), async (page) => (source === 'anthropic' ? [] : rows.skills(db, userId, page)), shown),
    async versions(userId: string, id: string, query: Omit<ListQuery, 'include_archived'>) {
      await got(userId, id);
      return paged(
        every(query),
        (page) => rows.versions(db.user(userId), id, page),
        (row) => shownVersion(id, row),
      );
    },
    version: async (userId: string, id: string, digest: string) => shownVersion(id, await one(userId, id, digest)),
    async download(userId: string, id: string, digest: string, request: Pick<RequestInfo, 'holds'>): Promise<Answer> {
      const { id: versionId, name, bytes, accepted_at: at } = await one(userId, id, digest);
      request.holds(bytes);
      const pieces: Buffer[] = [];
      const zip = createZipWriter(async (piece) => void pieces.push(piece));
      for (const { path, content } of await rows.filesOf(db.user(userId), versionId))
        await zip.add(`${name}/${path}`, at ?? new Date(0), Readable.from([content]));
      await zip.finish();
      const headers = {
        'content-type': 'application/octet-stream',
        'content-disposition': `attachment; filename="${name}.zip"`,
        'cache-control': 'private, no-store',
        'x-content-type-options': 'nosniff',
      };
      return respond({ headers, body: Buffer.concat(pieces) });
    },
  };
}

/** Skills that an agent is to have, as its maker names them. */
function choosing({ db }: SkillsDeps) {
  return {
    async wanted(userId: string, given: readonly { skill_id: string; version?: string | null | undefined }[]) {
      const ids = given.map(({ skill_id: id }) => id);
      const known = new Map((await librarySkills(db.user(userId), userId, { ids })).map((one) => [one.id, one]));
      return given.map(({ skill_id: id, version }) => {
        const found = known.get(id);
        if (!found) throw new AppError(404, 'Skill not found');
        if (version && version !== 'latest' && version !== found.digest)
          throw new AppError(400, 'skills: an agent is given the newest version of a skill');
        return found;
      });
    },
  };
}
