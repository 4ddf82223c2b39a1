import {
  MOST_REVIEWS,
  MOST_SKILLS,
  backend as onBackend,
  type web,
  type SkillFinding,
  type SkillReview,
  type SkillSummary,
  type TypesOf,
} from '@troupe/contract';
import type { Database, UserTx } from '@troupe/db';
import { isPlan, PLAN_LIMITS, type Catalogue, type SkillHead } from '@troupe/domain';
import {
  AppError,
  iso,
  isoOrNull,
  readSkillOf,
  type BackendClient,
  type Clock,
  type Outbound,
  type ReadSkill,
  type User,
  type WorkerPool,
} from '@troupe/kernel';
import {
  acceptSkillReview,
  builtInSkill,
  dropSkillReview,
  keepSkillReview,
  librarySkills,
  lockSkills,
  removeSkill,
  skillsGiven,
  type LibrarySkill,
  type Roster,
} from '@troupe/roster';
import { reach } from '../../platform/reach.ts';
import { drafting } from './drafting.ts';
import { fetchSkillFrom } from './fetched.ts';
import * as store from './store.ts';

export interface SkillsDeps {
  db: Database;
  roster: Roster;
  backend: BackendClient;
  clock: Clock;
  pool: WorkerPool;
  /** Reaches public addresses only. */
  outbound: Outbound;
  catalogue: Catalogue;
}

export type SkillsService = ReturnType<typeof createSkills>;

type Given = TypesOf<typeof web.skills.review>['body'];
type Report = SkillReview['report'];
type Version = NonNullable<Awaited<ReturnType<typeof store.findReview>>>;

const counted = (findings: readonly SkillFinding[], level: SkillFinding['level']): number =>
  findings.filter((finding) => finding.level === level).length;

const reportOf = ({ report }: Pick<Version, 'report'>): Report => report as unknown as Report;

const headOf = ({ name, description, digest, bytes, source, head }: Version) => {
  const rest = head as unknown as Omit<SkillHead, 'name' | 'description'>;
  return { name, description, digest, bytes, source, ...rest };
};

/** What comes in: read in a thread, and kept as something that waits. */
function createTaking({ db, clock, pool, outbound }: SkillsDeps, shownReview: Shown['review']) {
  async function read(user: User, { files, url, path, builtIn }: Given): Promise<{ skill: ReadSkill; source: string }> {
    if (builtIn !== undefined) {
      const skill = await builtInSkill(builtIn);
      if (!skill) throw new AppError(400, `There is no built-in skill ${builtIn}`);
      return { skill, source: 'built-in' };
    }
    if (url !== undefined) {
      const fetched = await fetchSkillFrom(outbound, { url, path });
      // What stands before and after the path of an address may be secret.
      const { origin, pathname } = new URL(url);
      return { skill: await readBytes(user, fetched.bytes, fetched.path), source: origin + pathname };
    }
    const given = (files ?? []).map((file) => ({
      path: file.path,
      content: new Uint8Array(Buffer.from(file.content, file.encoding)),
    }));
    return { skill: accepted(await readSkillOf(pool, user.id, { files: given })), source: 'files' };
  }

  const readBytes = async (user: User, bytes: Uint8Array, path?: string): Promise<ReadSkill> =>
    accepted(await readSkillOf(pool, user.id, { bytes, path }));

  async function keep({ id: userId }: User, skill: ReadSkill, source: string): Promise<SkillReview> {
    const id = await db.asUser(userId, async (tx) => {
      await lockSkills(tx, userId);
      return keepSkillReview(tx, userId, skill, { source, at: clock(), most: MOST_REVIEWS });
    });
    return shownReview(userId, id);
  }

  return {
    async review(user: User, given: Given) {
      const { skill, source } = await read(user, given);
      return keep(user, skill, source);
    },
    reviewArchive: async (user: User, bytes: Buffer, path: string | undefined) =>
      keep(user, await readBytes(user, new Uint8Array(bytes), path), 'archive'),
  };
}

function accepted(reading: Awaited<ReturnType<typeof readSkillOf>>): ReadSkill {
  if (!reading.ok) throw new AppError(400, reading.error);
  return reading.skill;
}

type Shown = ReturnType<typeof createShown>;

function createShown({ db }: SkillsDeps) {
  async function newest(tx: UserTx, userId: string, only: Parameters<typeof librarySkills>[2]) {
    return (await librarySkills(tx, userId, only))[0];
  }

  async function review(userId: string, id: string): Promise<SkillReview> {
    const tx = db.user(userId);
    const found = await store.findReview(tx, id);
    if (!found) throw new AppError(404, 'Review not found');
    const before = await newest(tx, userId, { names: [found.name] });
    const was = new Map((before ? await store.listFiles(tx, before.versionId) : []).map((file) => [file.path, file]));
    const files = (await store.listFiles(tx, id)).map((file) => {
      const old = was.get(file.path);
      was.delete(file.path);
      const change = !old ? ('added' as const) : old.sha256 === file.sha256 ? ('same' as const) : ('changed' as const);
      return { ...file, change };
    });
    const removed = [...was.values()].map((file) => ({ ...file, change: 'removed' as const }));
    return {
      ...headOf(found),
      id,
      skillId: before?.id ?? null,
      replaces: before?.digest ?? null,
      report: reportOf(found),
      files: [...files, ...removed],
      createdAt: iso(found.created_at),
    };
  }

  async function file(tx: UserTx, versionId: string, path: string) {
    const found = await store.findFile(tx, versionId, path);
    if (!found) throw new AppError(404, 'There is no such file in it');
    const isText = found.kind === 'text' || found.kind === 'script';
    return { path, bytes: found.bytes, text: isText ? found.content.toString('utf8') : null };
  }

  async function skill(userId: string, id: string): Promise<LibrarySkill> {
    const found = await newest(db.user(userId), userId, { ids: [id] });
    if (!found) throw new AppError(404, 'Skill not found');
    return found;
  }

  return { review, file, skill, newest };
}

/** Skills of the library in a line each. */
function createSummaries({ db }: SkillsDeps) {
  return async function summaries(
    userId: string,
    only: Parameters<typeof librarySkills>[2] = {},
  ): Promise<SkillSummary[]> {
    const tx = db.user(userId);
    const skills = await librarySkills(tx, userId, only);
    const given = await skillsGiven(tx);
    const versionIds = skills.map(({ versionId }) => versionId);
    const versions = new Map((await store.listVersions(tx, versionIds)).map((version) => [version.id, version]));
    return skills.flatMap(({ versionId, number, ...rest }) => {
      const version = versions.get(versionId);
      // Deleted at this moment.
      if (!version) return [];
      const { bytes, source, files, accepted_at: at } = version;
      const agents = given
        .filter(({ skillId }) => skillId === rest.id)
        .map(({ agentId, name, digest }) => ({ id: agentId, name, behind: digest !== rest.digest }));
      const scripts = reportOf(version).scripts.length;
      return [
        { ...rest, version: number, bytes, source, files: files ?? 0, scripts, agents, acceptedAt: isoOrNull(at) },
      ];
    });
  };
}

type Summaries = ReturnType<typeof createSummaries>;

/** What is in the library, and what waits before it. */
function listing({ db }: SkillsDeps, summaries: Summaries) {
  return {
    async list(userId: string) {
      const tx = db.user(userId);
      const skills = await summaries(userId);
      const digests = new Map(skills.map(({ name, digest }) => [name, digest]));
      const { BUILT_IN_SKILLS } = await import('@troupe/domain/built-in-skills');
      const reviews = (await store.listReviews(tx)).map((row) => {
        const { findings } = reportOf(row);
        return {
          id: row.id,
          name: row.name,
          description: row.description,
          digest: row.digest,
          bytes: row.bytes,
          source: row.source,
          replaces: digests.get(row.name) ?? null,
          dangers: counted(findings, 'danger'),
          warnings: counted(findings, 'warning'),
          createdAt: iso(row.created_at),
        };
      });
      const builtIn = BUILT_IN_SKILLS.filter(({ name }) => !digests.has(name)).map(({ name, description }) => ({
        name,
        description,
      }));
      return { skills, reviews, builtIn };
    },
  };
}

/** What becomes of what waits, and of what is there. */
function deciding({ db, clock }: SkillsDeps, summaries: Summaries) {
  return {
    /** In one transaction: it waits, or it is taken; there is nothing between. */
    async accept(userId: string, id: string, digest: string): Promise<SkillSummary> {
      const skillId = await db.asUser(userId, (tx) =>
        acceptSkillReview(tx, userId, id, { digest, at: clock(), most: MOST_SKILLS }),
      );
      const [summary] = await summaries(userId, { ids: [skillId] });
      if (!summary) throw new AppError(404, 'Review not found');
      return summary;
    },

    async drop(userId: string, id: string) {
      if (!(await dropSkillReview(db.user(userId), id))) throw new AppError(404, 'Review not found');
      return { success: true as const };
    },

    async remove(userId: string, id: string) {
      await db.asUser(userId, (tx) => removeSkill(tx, userId, id));
      return { success: true as const };
    },
  };
}

/** Which skills an agent has. */
function givingOf({ db, roster, backend }: SkillsDeps) {
  async function ofAgent(user: User, agentId: string) {
    const own = roster.of(user.id);
    const agent = await own.get(agentId);
    const { skills: has = [] } = await own.definition(agent);
    const pinned = new Map(has.map((ref) => [ref.id, ref]));
    const known = await librarySkills(db.user(user.id), user.id);
    const there = new Set(known.map(({ id }) => id));
    const gone = has.filter(({ id }) => !there.has(id));
    return {
      skills: [
        ...known.map(({ id, name, description, digest, number }) => {
          const mine = pinned.get(id)?.digest ?? null;
          const behind = mine !== null && mine !== digest;
          return { id, name, description, digest, version: number, on: mine !== null, pinned: mine, behind };
        }),
        ...gone.map(({ digest, ...ref }) => ({
          ...ref,
          digest,
          version: null,
          on: true,
          pinned: digest,
          behind: false,
        })),
      ],
      max: PLAN_LIMITS[isPlan(agent.plan) ? agent.plan : 'solo'].skills,
    };
  }

  type Place = { id: string; skillId: string };

  async function change(
    user: User,
    { id, skillId }: Place,
    how: { on: boolean; digest?: string },
    force: boolean,
    address: string,
  ) {
    await roster.of(user.id).get(id);
    const body = { skill: { id: skillId, ...how }, force };
    await reach(backend.as(user, address).call(onBackend.agents.update, { params: { id }, body }));
    return ofAgent(user, id);
  }

  return {
    ofAgent,
    give: (
      user: User,
      place: Place,
      { digest, force }: { digest: string | undefined; force: boolean },
      address: string,
    ) => change(user, place, { on: true, ...(digest !== undefined && { digest }) }, force, address),
    take: (user: User, place: Place, force: boolean, address: string) =>
      change(user, place, { on: false }, force, address),
  };
}

export function createSkills(deps: SkillsDeps) {
  const { db } = deps;
  const shown = createShown(deps);
  const summaries = createSummaries(deps);

  return {
    ...createTaking(deps, shown.review),
    ...listing(deps, summaries),
    ...deciding(deps, summaries),
    ...givingOf(deps),
    ...drafting(deps),
    getReview: shown.review,

    async reviewFile(userId: string, id: string, path: string, side: 'new' | 'old') {
      const tx = db.user(userId);
      const found = await store.findReview(tx, id);
      if (!found) throw new AppError(404, 'Review not found');
      if (side === 'new') return shown.file(tx, id, path);
      const before = await shown.newest(tx, userId, { names: [found.name] });
      if (!before) throw new AppError(404, 'There is no such file in it');
      return shown.file(tx, before.versionId, path);
    },

    async get(userId: string, id: string) {
      const tx = db.user(userId);
      const { versionId, number } = await shown.skill(userId, id);
      const version = await store.findVersion(tx, versionId);
      if (!version) throw new AppError(404, 'Skill not found');
      return {
        ...headOf(version),
        id,
        version: number,
        report: reportOf(version),
        files: await store.listFiles(tx, versionId),
        acceptedAt: isoOrNull(version.accepted_at),
      };
    },

    async file(userId: string, id: string, path: string) {
      const { versionId } = await shown.skill(userId, id);
      return shown.file(db.user(userId), versionId, path);
    },
  };
}
