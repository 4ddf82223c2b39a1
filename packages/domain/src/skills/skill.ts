import { z } from 'zod';

/** Skills in the AgentSkills format: a folder with a SKILL.md. What every part of the platform knows of them. */

const MB = 1024 * 1024;

export const SKILL_BOUNDS = {
  name: 64,
  description: 1024,
  compatibility: 500,
  /** Characters of SKILL.md: a model reads it whole. */
  text: 50_000,
  files: 256,
  fileBytes: 2 * MB,
  /** Of all files of one skill. */
  bytes: 8 * MB,
  path: 200,
  /** Of an archive as it comes, and what may be in it beside the skill. */
  archiveBytes: 10 * MB,
  entries: 10_000,
} as const;

/** Parts of a–z and 0–9 with single hyphens between them. */
export const SKILL_NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
export const isSkillName = (name: string): boolean => name.length <= SKILL_BOUNDS.name && SKILL_NAME.test(name);

/** The file that makes a folder a skill. */
export const SKILL_FILE = 'SKILL.md';
/** Where a command finds the folders of the agent's skills. */
export const SKILLS_FOLDER = '/skills';

/** What a definition says of a skill that the agent may use. The digest is of all its files: others are never read. */
export const skillRefSchema = z.object({
  id: z.string().min(1).max(100),
  name: z.string().regex(SKILL_NAME).max(SKILL_BOUNDS.name),
  description: z.string().max(500),
  digest: z.string().regex(/^[0-9a-f]{64}$/),
});
export type SkillRef = z.output<typeof skillRefSchema>;

/** What SKILL.md says at its top. */
export interface SkillHead {
  name: string;
  description: string;
  license?: string;
  compatibility?: string;
  metadata: Record<string, string>;
  /** What its author would like it to use. It gives nothing: an agent may do what its owner allows. */
  allowedTools: string[];
}

/** Of a skill in a prompt, its name included. */
const LINE_TOKENS = 100;

/** A rough count that is never too low for what people write: four letters a token, anything else one each. */
const tokensOf = (character: string): number => (character <= '\u007F' ? 0.25 : 1);

/** What a description says, as one line of a prompt: short enough to be paid for with every call. */
export function catalogueLine({ name, description }: Pick<SkillHead, 'name' | 'description'>): string {
  const plain = description.replace(/[\p{C}\p{Z}]+/gu, ' ').trim();
  let left = LINE_TOKENS - name.length / 4 - 4;
  let end = 0;
  for (const character of plain) {
    left -= tokensOf(character);
    if (left < 0) return `${plain.slice(0, end).replace(/\s\S*$/, '')}…`;
    end += character.length;
  }
  return plain;
}
