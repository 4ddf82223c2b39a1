import { posix } from 'node:path';
import { isTimeZone, parseSchedule } from '../cron.ts';
import { readSkillMd } from '../skills/skill-md.ts';
import { SKILL_BOUNDS, SKILL_FILE } from '../skills/skill.ts';
import type { Note } from '../teams/sift.ts';
import { readTeam, type Team, type TeamReading } from '../teams/team.ts';
import { readTeamYaml, teamYaml } from '../teams/team-yaml.ts';
import { docsOf } from './docs-of.ts';
import { isLetta, readLetta } from './letta.ts';
import { isOpenclaw, readOpenclaw } from './openclaw.ts';
import { isPaperclip, readPaperclip } from './paperclip.ts';
import {
  carriedOf,
  checkSize,
  checkYaml,
  decoded,
  ImportError,
  isObject,
  short,
  yamlOf,
  type BundleFile,
  type Carried,
  type ImportFormat,
} from './parts.ts';

/** Files of others as a team of ours, with all that comes along. */

interface ImportedCollection {
  name: string;
  files: BundleFile[];
}

export interface ImportPlan extends Pick<Carried, 'workspace' | 'memories' | 'skills' | 'tasks'> {
  format: ImportFormat;
  team: Team;
  yaml: string;
  collections: ImportedCollection[];
  notCarried: Note[];
  toGive: Note[];
}

export interface ImportGiven {
  files: readonly BundleFile[];
  /** One document of several. */
  path?: string | undefined;
}

/** Bounds of one import, below those of what it is made into. */
const MOST = {
  documents: 90,
  workspace: 300,
  memories: 200,
  skills: 10,
  tasks: 50,
  tasksLooked: 200,
  left: 100,
} as const;

const MOST_PROMPT = 100_000;

const isYaml = (path: string): boolean => /\.ya?ml$/i.test(path);
const JUNK = /^(?:__MACOSX|\.git|\.svn)\/|(?:^|\/)(?:\.DS_Store|Thumbs\.db|desktop\.ini)$/;

export function readImport(given: ImportGiven): ImportPlan {
  const files = withoutTop(given.files.filter(({ path }) => !JUNK.test(path)));
  if (files.length === 0) throw new ImportError('There is nothing in it');
  const { carried, reading, folder } = readAny(files, given.path);
  if (!reading.ok) throw new ImportError(reading.error);
  const { team } = reading;
  const found = docsOf(team.knowledge ?? [], folder, carried.format === 'letta' ? carried.files : files);
  for (const { files: own } of found) for (const { path } of own) carried.used.add(path);
  const isMissing = ({ at, says }: Note): boolean =>
    !found.some(
      (one) => one.files.length > 0 && at === `rag.${one.collection}.docs` && says.startsWith(`put ${one.path} into`),
    );
  const plan: ImportPlan = {
    format: carried.format,
    team,
    yaml: teamYaml(team),
    collections: collected(found),
    workspace: carried.workspace,
    memories: carried.memories,
    skills: carried.skills.toSorted((a, b) => a.name.localeCompare(b.name)),
    tasks: carried.tasks,
    notCarried: [...carried.notCarried, ...reading.notCarried],
    toGive: [...carried.toGive, ...reading.toGive.filter(isMissing)],
  };
  checkSkills(plan);
  checkTasks(plan);
  bound(plan);
  for (const { name, agents } of plan.skills)
    plan.toGive.push({
      at: `skills.${short(name, 60)}`,
      says: `it waits for your review under Skills${agents.length > 0 ? `; then give it to ${agents.slice(0, 10).join(', ')}` : ''}`,
    });
  leftOver(files, carried, plan.notCarried);
  return plan;
}

/** Archives often have one folder on top of everything. */
function withoutTop(files: readonly BundleFile[]): BundleFile[] {
  const top = files[0]?.path.split('/')[0] ?? '';
  const isTop = files.every(({ path }) => path.startsWith(`${top}/`));
  const meant = ['agents', 'skills', 'workspace', 'memory', 'teams'];
  if (!isTop || meant.includes(top)) return [...files];
  return files.map(({ path, content }) => ({ path: path.slice(top.length + 1), content }));
}

interface Read {
  carried: Carried;
  reading: TeamReading;
  /** What paths in the document begin from. */
  folder: string;
}

function readAny(files: readonly BundleFile[], wanted: string | undefined): Read {
  const paths = new Set(files.map(({ path }) => path));
  const whole = (carried: Carried): Read => ({ carried, reading: readTeam(carried.document), folder: '' });
  if (wanted === undefined && isPaperclip(paths)) return whole(readPaperclip(files));
  if (wanted === undefined && isOpenclaw(paths)) return whole(readOpenclaw(files));
  const documents = files.filter(({ path }) =>
    wanted === undefined ? isDocument(path, files.length) : path === wanted,
  );
  const found = documents.flatMap((file) => documentOf(file, documents.length === 1) ?? []);
  const [only, second] = found;
  if (!only) throw new ImportError('There is no document of docker-agent, OpenClaw, Paperclip or Letta in it');
  if (second) {
    const names = found.slice(0, 20).map(({ file }) => short(file.path));
    throw new ImportError(`There are several documents in it: ${names.join(', ')}. Name one with path`);
  }
  if (only.letta !== undefined) {
    const carried = readLetta(only.letta);
    carried.used.add(only.file.path);
    return whole(carried);
  }
  const carried = carriedOf('docker-agent');
  carried.used.add(only.file.path);
  checkYaml(only.text, only.file.path);
  return { carried, reading: readTeamYaml(only.text), folder: posix.dirname(only.file.path) };
}

const isDocument = (path: string, all: number): boolean => isYaml(path) || /\.(?:af|json)$/i.test(path) || all === 1;

interface Document {
  file: BundleFile;
  text: string;
  letta?: unknown;
}

/** Undefined: it is something else, which others beside it may be. */
function documentOf(file: BundleFile, isOnly: boolean): Document | undefined {
  const isJson = /^\uFEFF?\s*["{]/.test(Buffer.from(file.content.subarray(0, 1000)).toString());
  if (!isJson && isOnly) checkSize(file);
  const text = decoded(file);
  if (isJson) {
    const value = jsonOf(text);
    if (isLetta(value)) return { file, text, letta: value };
  }
  if (isOnly) return { file, text };
  if (!isYaml(file.path) || !/^agents:/m.test(text)) return undefined;
  return isObject(yamlOf(text, file.path)) ? { file, text } : undefined;
}

/** Some agent files are a text in JSON that is JSON itself. */
function jsonOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? JSON.parse(value) : value;
  } catch {
    // It is YAML, perhaps, which begins like this as well.
    return undefined;
  }
}

function collected(found: ReturnType<typeof docsOf>): ImportedCollection[] {
  const collections = new Map<string, Map<string, BundleFile>>();
  for (const { collection, files } of found) {
    const own = collections.get(collection) ?? new Map<string, BundleFile>();
    for (const file of files) own.set(file.path, file);
    collections.set(collection, own);
  }
  return [...collections].map(([name, own]) => ({ name, files: [...own.values()] }));
}

/** What the library would not take is named, and stops nothing else. */
function checkSkills(plan: ImportPlan): void {
  plan.skills = plan.skills.filter(({ name, files }) => {
    const problem = skillProblem(files);
    if (problem !== undefined) plan.notCarried.push({ at: `skills.${short(name, 60)}`, says: problem });
    return problem === undefined;
  });
}

function skillProblem(files: readonly BundleFile[]): string | undefined {
  const head = files.find(({ path }) => path === SKILL_FILE);
  if (!head) return 'it has no SKILL.md';
  const bytes = files.reduce((sum, { content }) => sum + content.length, 0);
  const isLarge = files.length > SKILL_BOUNDS.files || bytes > SKILL_BOUNDS.bytes;
  if (isLarge || files.some(({ content }) => content.length > SKILL_BOUNDS.fileBytes))
    return 'it is too large for a skill';
  const reading = readSkillMd(decoded(head));
  return reading.ok ? undefined : short(reading.error, 300);
}

function checkTasks(plan: ImportPlan): void {
  const now = new Date();
  const looked = cutIn(plan)(
    plan.tasks,
    MOST.tasksLooked,
    ({ name }) => name,
    `${MOST.tasksLooked} tasks are looked at in an import`,
  );
  plan.tasks = looked.filter(({ name, cronSchedule, timezone, prompt }) => {
    const isGood = isTimeZone(timezone) && parseSchedule(cronSchedule, timezone, now) !== null;
    const says = isGood ? 'what it says is too long for a task' : 'its schedule or time zone is not understood';
    const isTaken = isGood && prompt.length <= MOST_PROMPT;
    if (!isTaken) plan.notCarried.push({ at: `tasks.${short(name, 60)}`, says });
    return isTaken;
  });
}

/** What is too much is named, one by one where it is few. */
function cutIn({ notCarried }: ImportPlan) {
  return <T>(all: T[], most: number, name: (one: T) => string, says: string): T[] => {
    for (const one of all.slice(most, most + MOST.left)) notCarried.push({ at: short(name(one)), says });
    if (all.length > most + MOST.left) notCarried.push({ at: `and ${all.length - most - MOST.left} more`, says });
    return all.slice(0, most);
  };
}

function bound(plan: ImportPlan): void {
  const cut = cutIn(plan);
  let room = MOST.documents;
  for (const collection of plan.collections) {
    const says = `${MOST.documents} documents are taken at once: upload it to the collection ${collection.name} afterwards`;
    collection.files = cut(collection.files, room, ({ path }) => path, says);
    room -= collection.files.length;
  }
  plan.workspace = cut(plan.workspace, MOST.workspace, ({ path }) => path, `${MOST.workspace} files are taken at once`);
  plan.memories = cut(plan.memories, MOST.memories, ({ key }) => key, `${MOST.memories} memories are taken at once`);
  plan.skills = cut(
    plan.skills,
    MOST.skills,
    ({ name }) => `skills.${name}`,
    `${MOST.skills} skills wait for a review at once: upload it afterwards`,
  );
  plan.tasks = cut(plan.tasks, MOST.tasks, ({ name }) => name, `${MOST.tasks} tasks are taken at once`);
}

function leftOver(files: readonly BundleFile[], { used }: Carried, notCarried: Note[]): void {
  const left = files.filter(({ path }) => !used.has(path));
  for (const { path } of left.slice(0, MOST.left))
    notCarried.push({ at: short(path), says: 'no part of what is imported names this file' });
  if (left.length > MOST.left)
    notCarried.push({
      at: `and ${left.length - MOST.left} more files`,
      says: 'no part of what is imported names them',
    });
}
