import { open, readdir } from 'node:fs/promises';
import path from 'node:path';
import { SKILL_BOUNDS, SKILL_FILE, SKILLS_FOLDER, type SkillRef } from '@troupe/domain';
import { z } from 'zod';
import { ACTIVATE_SKILL, skillTitle, versionOf } from '../skills/active.ts';
import type { Shelf, SkillSource } from '../skills/shelf.ts';
import { failed, tool, type Tool, type ToolContext } from './tool.ts';

const ARGS = {
  activate: z.object({ name: z.string().max(SKILL_BOUNDS.name).describe('As it stands in the list of skills') }),
  read: z.object({
    skill: z.string().max(SKILL_BOUNDS.name),
    path: z.string().min(1).max(SKILL_BOUNDS.path).describe('As activate_skill lists it'),
  }),
};

/** Skills are read, never run: what a script of theirs may do is what a command of the agent may. */
export function skillTools(shelf: Shelf, source: SkillSource): Tool[] {
  const toolset = 'skills';
  const given = ({ definition: { skills = [] } }: ToolContext, name: string): SkillRef | undefined =>
    skills.find((one) => one.name === name);
  const unknown = ({ definition: { skills = [] } }: ToolContext, name: string) =>
    failed(`You have no skill ${name}. Skills: ${skills.map((one) => one.name).join(', ') || 'none'}.`);
  return [
    tool({
      name: ACTIVATE_SKILL,
      toolset,
      description: 'Get the instructions of one of your skills. Call it before a task that the skill is for.',
      args: ARGS.activate,
      repeatable: true,
      async run({ name }, context) {
        const skill = given(context, name);
        if (!skill) return unknown(context, name);
        const isActive = context.skills?.some((one) => one.name === name && one.version === versionOf(skill.digest));
        if (isActive) return `The skill ${name} is active already: its instructions stand above.`;
        const folder = await shelf.folder(skill, source);
        const text = await textOf(folder, SKILL_FILE);
        if (text === undefined) return failed(`The skill ${name} has no text.`);
        const files = (await listed(folder)).filter((file) => file !== SKILL_FILE);
        const body = text.replaceAll('\r\n', '\n').replace(/^\uFEFF?---[ \t]*\n[\s\S]*?\n---[ \t]*(?:\n|$)/, '');
        return [
          skillTitle(name, skill.digest),
          body.trim(),
          ...(files.length > 0 ? [fileList(name, files, context.definition.tools.includes('shell'))] : []),
        ].join('\n\n');
      },
    }),
    tool({
      name: 'read_skill_file',
      toolset,
      description: 'Read a file of one of your skills.',
      args: ARGS.read,
      repeatable: true,
      async run({ skill: name, path: file }, context) {
        const skill = given(context, name);
        if (!skill) return unknown(context, name);
        const folder = await shelf.folder(skill, source);
        if (!(await listed(folder)).includes(file)) return failed(`The skill ${name} has no file ${file}.`);
        return (
          (await textOf(folder, file)) ?? failed(`${file} is no text; commands find it in ${SKILLS_FOLDER}/${name}.`)
        );
      },
    }),
  ];
}

function fileList(name: string, files: readonly string[], hasShell: boolean): string {
  const where = hasShell ? `; commands find them in ${SKILLS_FOLDER}/${name}, where nothing can be changed` : '';
  return `Files of this skill (read_skill_file reads them${where}):\n${files.map((file) => `- ${file}`).join('\n')}`;
}

/** Everything in it, by path; there are few hundred at most, and no links. */
async function listed(folder: string, below = ''): Promise<string[]> {
  const entries = await readdir(path.join(folder, below), { withFileTypes: true });
  const found = await Promise.all(
    entries.map(async (entry) => {
      const at = path.posix.join(below, entry.name);
      return entry.isDirectory() ? listed(folder, at) : [at];
    }),
  );
  return found.flat().toSorted();
}

/** Undefined: these are no letters. */
async function textOf(folder: string, file: string): Promise<string | undefined> {
  const handle = await open(path.join(folder, file));
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await handle.readFile());
    return text.includes('\0') ? undefined : text;
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  } finally {
    await handle.close();
  }
}
