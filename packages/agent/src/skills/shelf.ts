import { chmod, mkdir, readdir, rename, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { SKILL_FILE, type SkillRef } from '@troupe/domain';
import { digestOf, randomHex, type Log, type SkillFile } from '@troupe/kernel';
import { removeTree } from '../workspace/remove-tree.ts';

/**
 * Skills as folders on this machine, named by their digest. One is fetched when it is first needed, compared with its
 * digest, and put in its place whole: never half a skill, and never another than the owner has looked at.
 */

/** The files under a digest; undefined: there are none, or not for this agent. */
export type SkillSource = (digest: string) => Promise<readonly SkillFile[] | undefined>;

export interface Shelf {
  /** Throws where it cannot be had. */
  folder: (skill: SkillRef, source: SkillSource) => Promise<string>;
  /** What commands are shown: those that have more than their text. `missing`: sentences about those that cannot be had. */
  mounts: (
    skills: readonly SkillRef[],
    source: SkillSource,
  ) => Promise<{ mounts: { name: string; folder: string }[]; missing: string[] }>;
}

const DAY_MS = 86_400_000;
/** What nobody used for so long is removed, when something comes in. */
const KEPT_MS = 7 * DAY_MS;
const PART = '.part';

interface ShelfOptions {
  root: string;
  log: Log;
  now?: () => number;
}

/** Puts folders in their place, and takes away what nobody uses. */
function createPlacing({ root, log, now = Date.now }: ShelfOptions) {
  async function isThere(folder: string): Promise<boolean> {
    try {
      const at = new Date(now());
      await utimes(folder, at, at);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    }
  }

  async function fetch({ name, digest }: SkillRef, source: SkillSource, folder: string): Promise<void> {
    const files = await source(digest);
    if (!files) throw new Error(`The skill ${name} is not in the library any more.`);
    if (digestOf(files) !== digest) throw new Error(`The files of the skill ${name} are not those that were accepted.`);
    await mkdir(root, { recursive: true, mode: 0o755 });
    const part = `${folder}.${randomHex(8)}${PART}`;
    try {
      await write(part, files);
      await rename(part, folder);
      await isThere(folder);
    } catch (error) {
      await removeTree(part);
      // Another process was faster: what is there has the same digest.
      if (!(await isThere(folder))) throw error;
    }
    await sweep().catch((err: unknown) => log.warn({ err }, 'old skills could not be removed'));
  }

  async function sweep(): Promise<void> {
    for (const name of await readdir(root)) {
      const old = path.join(root, name);
      const { mtimeMs } = await stat(old);
      const most = name.endsWith(PART) ? DAY_MS : KEPT_MS;
      if (now() - mtimeMs > most) await removeTree(old);
    }
  }

  return { isThere, fetch };
}

export function createShelf(options: ShelfOptions): Shelf {
  const { root, log } = options;
  const { isThere, fetch } = createPlacing(options);
  const coming = new Map<string, Promise<void>>();

  async function folder(skill: SkillRef, source: SkillSource): Promise<string> {
    const at = path.join(root, skill.digest);
    if (await isThere(at)) return at;
    const pending = coming.get(skill.digest) ?? fetch(skill, source, at);
    coming.set(skill.digest, pending);
    try {
      await pending;
    } finally {
      coming.delete(skill.digest);
    }
    return at;
  }

  return {
    folder,
    async mounts(skills, source) {
      const mounts: { name: string; folder: string }[] = [];
      const missing: string[] = [];
      for (const skill of skills) {
        try {
          const at = await folder(skill, source);
          if ((await readdir(at)).some((name) => name !== SKILL_FILE)) mounts.push({ name: skill.name, folder: at });
        } catch (error) {
          log.warn({ err: error, skill: skill.name }, 'a skill could not be had');
          missing.push((error as Error).message);
        }
      }
      return { mounts, missing };
    },
  };
}

async function write(folder: string, files: readonly SkillFile[]): Promise<void> {
  await mkdir(folder);
  await chmod(folder, 0o755);
  for (const file of files) {
    const target = path.join(folder, file.path);
    if (!target.startsWith(`${folder}${path.sep}`)) throw new Error(`${file.path} is no path within a skill`);
    await makeFolders(folder, path.dirname(target));
    await writeFile(target, file.content, { flag: 'wx' });
    // Whoever runs commands is somebody else: it reads, and runs what says how.
    const isScript = file.content[0] === 0x23 && file.content[1] === 0x21;
    await chmod(target, isScript ? 0o755 : 0o644);
  }
}

async function makeFolders(root: string, folder: string): Promise<void> {
  if (folder === root) return;
  await makeFolders(root, path.dirname(folder));
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o755);
}
