import { SKILL_BOUNDS, SKILL_FILE, type SkillHead } from '@troupe/domain';
import { readSkillMd } from '@troupe/domain/skill-md';
import { fileDigest, skillDigest, type SkillFile } from './digest.ts';
import { scanSkill, textOf, type FileKind, type Finding, type Script } from './scan.ts';
import { ArchiveError, entriesOf, type Entry } from './unpack.ts';

/** A skill as somebody sent it: its files, or the bytes of an archive or of a SKILL.md; `path` names one of several. */
export type SkillGiven = { files: readonly SkillFile[] } | { bytes: Uint8Array; path?: string | undefined };

export interface ReadSkill {
  head: SkillHead;
  digest: string;
  bytes: number;
  files: { path: string; bytes: number; sha256: string; kind: FileKind; content: Uint8Array }[];
  scripts: Script[];
  hosts: string[];
  findings: Finding[];
  /** Files that were not taken: what systems leave in folders. */
  leftOut: string[];
}

export type SkillReading = { ok: true; skill: ReadSkill } | { ok: false; error: string };

/** Reads and looks through a skill. What others made may be anything: this runs in a thread with a deadline. */
export function run(given: SkillGiven): SkillReading {
  try {
    return { ok: true, skill: read(given) };
  } catch (error) {
    if (error instanceof ArchiveError) return { ok: false, error: error.message };
    throw error;
  }
}

const refuse = (why: string): never => {
  throw new ArchiveError(why);
};

const JUNK = /^(?:__MACOSX|\.git|\.svn)\/|(?:^|\/)(?:\.DS_Store|Thumbs\.db|desktop\.ini)$/;
const short = (path: string): string => path.toWellFormed().replace(/\p{C}/gu, '?').slice(0, 200);

function read(given: SkillGiven): ReadSkill {
  const { folder, entries } = chosen(given);
  const leftOut = entries.filter(({ path }) => JUNK.test(path)).map(({ path }) => short(path));
  const files = filesOf(entries.filter(({ path }) => !JUNK.test(path)));
  const text = textOf(files.find(({ path }) => path === SKILL_FILE)!.content) ?? refuse('SKILL.md is not UTF-8 text');
  const reading = readSkillMd(text);
  if (!reading.ok) return refuse(reading.error);
  const { head, warnings } = reading;
  const { kinds, scripts, hosts, findings } = scanSkill(files);
  const listed = files.map(({ path, content }) => ({
    path,
    content,
    bytes: content.length,
    sha256: fileDigest(content),
    kind: kinds.get(path) ?? 'binary',
  }));
  return {
    head,
    digest: skillDigest(listed),
    bytes: listed.reduce((sum, one) => sum + one.bytes, 0),
    files: listed,
    scripts,
    hosts,
    findings: [...findings, ...notes(head, folder, warnings)],
    leftOut: leftOut.slice(0, 100),
  };
}

function notes(head: SkillHead, folder: string | undefined, warnings: readonly string[]): Finding[] {
  const about = (level: Finding['level'], code: string, text: string): Finding => ({
    level,
    code,
    text,
    path: SKILL_FILE,
  });
  return [
    ...(folder !== undefined && folder !== '' && folder !== head.name
      ? [about('warning', 'name', `The folder is called ${short(folder)}, the skill ${head.name}`)]
      : []),
    ...warnings.map((text) => about('note', 'format', text)),
    ...(head.allowedTools.length > 0
      ? [
          about(
            'note',
            'allowed-tools',
            `It would like to use ${short(head.allowedTools.join(', '))}. That gives it nothing: an agent has the tools that you gave it`,
          ),
        ]
      : []),
  ];
}

/** The folder that the skill is in, undefined where nobody said, and what is below it. */
function chosen(given: SkillGiven): { folder: string | undefined; entries: Entry[] } {
  if ('files' in given) return inFolder(given.files.map(asEntry), undefined);
  const bytes = Buffer.from(given.bytes.buffer, given.bytes.byteOffset, given.bytes.byteLength);
  const entries = entriesOf(bytes);
  if (entries) return inFolder(entries, given.path);
  if (!/^\uFEFF?---\s/.test(textOf(bytes.subarray(0, 8)) ?? ''))
    return refuse('This is neither a zip, a tar nor a SKILL.md');
  return { folder: undefined, entries: [asEntry({ path: SKILL_FILE, content: bytes })] };
}

const asEntry = ({ path, content }: SkillFile): Entry => ({
  path,
  kind: 'file',
  bytes: content.length,
  read(most) {
    if (content.length > most) return refuse(`${short(path)} is too large`);
    return Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  },
});

function inFolder(all: readonly Entry[], wanted: string | undefined): { folder: string | undefined; entries: Entry[] } {
  const entries = all.map((entry) => ({ ...entry, path: entry.path.replace(/^(?:\.\/)+/, '') }));
  const outside = entries.find(({ path }) => /^[/\\]|^[A-Za-z]:|(?:^|[/\\])\.\.(?:[/\\]|$)|\0/.test(path));
  if (outside) return refuse(`${short(outside.path)} is no path within a skill`);
  const roots = rootsOf(entries.filter(({ kind }) => kind === 'file').map(({ path }) => path));
  if (roots.length === 0) return refuse('There is no SKILL.md in it');
  const asked = wanted?.replace(/^[./]+|\/+$/g, '');
  const fitting = asked ? roots.filter((root) => root === asked || root.endsWith(`/${asked}`)) : roots;
  if (fitting.length === 0) return refuse(`There is no SKILL.md in ${short(asked ?? '')}`);
  if (fitting.length > 1) {
    const names = fitting.slice(0, 20).map((root) => short(root || '.'));
    return refuse(`There are several skills in it: ${names.join(', ')}. Name one with path`);
  }
  const [root = ''] = fitting;
  const prefix = root === '' ? '' : `${root}/`;
  const below = entries
    .filter(({ path }) => path.startsWith(prefix) && path !== prefix)
    .map((entry) => ({ ...entry, path: entry.path.slice(prefix.length) }));
  return { folder: root === '' ? undefined : root.slice(root.lastIndexOf('/') + 1), entries: below };
}

/** Folders with a SKILL.md that are not within another such. */
function rootsOf(paths: readonly string[]): string[] {
  const roots = new Set(
    paths
      .filter((path) => path === SKILL_FILE || path.endsWith(`/${SKILL_FILE}`))
      .filter((path) => !JUNK.test(path))
      .map((path) => path.slice(0, -SKILL_FILE.length - 1)),
  );
  const isWithin = (root: string): boolean => {
    if (root !== '' && roots.has('')) return true;
    for (let at = root.lastIndexOf('/'); at > 0; at = root.lastIndexOf('/', at - 1))
      if (roots.has(root.slice(0, at))) return true;
    return false;
  };
  return [...roots].filter((root) => !isWithin(root));
}

/** Its files, within all bounds, under names that mean the same everywhere. */
function filesOf(entries: readonly Entry[]): SkillFile[] {
  const seen = new Map<string, string>();
  const folders = new Set<string>();
  let left: number = SKILL_BOUNDS.bytes;
  const files: SkillFile[] = [];
  for (const entry of entries) {
    const path = entry.path.replace(/\/+$/, '');
    checkPath(path);
    if (entry.kind === 'folder') continue;
    if (entry.kind !== 'file') refuse(`${short(path)} is a link or a device: a skill has plain files only`);
    const key = path.normalize('NFC').toLowerCase();
    if (seen.has(key)) refuse(`${short(path)} stands twice in it`);
    seen.set(key, path);
    for (let at = key.lastIndexOf('/'); at > 0; at = key.lastIndexOf('/', at - 1)) folders.add(key.slice(0, at));
    if (files.length === SKILL_BOUNDS.files) refuse(`A skill has ${SKILL_BOUNDS.files} files at most`);
    // Copied: what crosses between threads brings the whole of what it is a part of.
    const content = new Uint8Array(entry.read(Math.min(SKILL_BOUNDS.fileBytes, left)));
    left -= content.length;
    files.push({ path, content });
  }
  for (const [key, path] of seen) if (folders.has(key)) refuse(`${short(path)} is a file and a folder`);
  return files;
}

function checkPath(path: string): void {
  const parts = path.split('/');
  const isOdd = parts.some((part) => part === '' || part === '.' || part === '..' || part !== part.trim());
  if (isOdd || /[\\:\p{C}]/u.test(path)) refuse(`${short(path) || 'A path'} is no path within a skill`);
  if (path.length > SKILL_BOUNDS.path || parts.length > 10) refuse(`${short(path)} is too long or too deep`);
}
