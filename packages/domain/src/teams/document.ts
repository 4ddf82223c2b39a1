import { z } from 'zod';
import { permissionsSchema } from '../permissions.ts';
import { isSkillName } from '../skills/skill.ts';
import { mcpDefinition, mcpToolset } from './servers.ts';
import { TEAM_MODEL, TEAM_TOOLS } from './templates.ts';
import {
  a2aSchema,
  apiSchema,
  deferSchema,
  openApiSchema,
  outputSchema,
  postEditSchema,
  scriptSchema,
} from './traits.ts';

/** What a team's document looks like once everything that is not carried over is out of it. */

const AGENT_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const MAX_AGENTS = 50;

const tool = z.enum(TEAM_TOOLS, { error: `unknown tool; known are ${TEAM_TOOLS.join(', ')}` });

/** Names of the owner's library; `true`, or `local` alone, means all of it. What is elsewhere goes through a review first. */
const skills = z
  .union([z.boolean(), z.array(z.string().max(2000)).max(100)], 'skills must be true, false or a list of names')
  .superRefine((given, context) => {
    for (const name of Array.isArray(given) ? given : []) {
      if (name === 'local' || isSkillName(name)) continue;
      const message = /^https?:/.test(name)
        ? 'skills are not fetched from addresses here: put it into your library and name it'
        : `${name.slice(0, 100)} is no name of a skill`;
      context.addIssue({ code: 'custom', message });
    }
  })
  .transform((given): readonly string[] | 'all' => {
    if (typeof given === 'boolean') return given ? 'all' : [];
    const names = given.filter((name) => name !== 'local');
    // A source beside names does not widen what they say.
    return names.length === 0 && given.length > 0 ? 'all' : [...new Set(names)];
  });

const modelName = z.string().trim().min(1).max(1000);
const hints = {
  instruction: z.string().max(20_000).optional(),
  model: modelName.optional(),
  defer: deferSchema.optional(),
  toon: z.string().max(2000).optional(),
};
const offered = z.array(z.string().max(200)).max(200).optional();

const toolset = z.discriminatedUnion('type', [
  mcpToolset,
  z.strictObject({ type: z.literal('openapi'), ...openApiSchema.shape, tools: offered, ...hints }),
  z.strictObject({
    type: z.literal('a2a'),
    ...a2aSchema.partial({ name: true }).shape,
    tools: offered,
    ...hints,
  }),
  z.strictObject({ type: z.literal('script'), shell: z.record(z.string(), scriptSchema), tools: offered, ...hints }),
  z.strictObject({ type: z.literal('background_agents'), tools: offered, ...hints }),
  z.strictObject({ type: z.literal('rag'), ref: z.string().min(1).max(80), tools: offered, ...hints }),
  z.strictObject({
    type: z.literal('model_picker'),
    models: z.array(modelName).min(1).max(20),
    tools: offered,
    ...hints,
  }),
  z.strictObject({ type: z.literal('api'), api_config: apiSchema, tools: offered, ...hints }),
  z.strictObject({
    type: tool,
    tools: offered,
    shared: z.boolean().optional(),
    path: z.string().max(1000).optional(),
    post_edit: z.array(postEditSchema).max(20).optional(),
    ...hints,
  }),
]);
export type GivenToolset = z.output<typeof toolset>;

const names = z.array(z.string()).max(MAX_AGENTS).optional();
const commandText = z.union([
  z.string().min(1).max(20_000),
  z.strictObject({ description: z.string().max(500).optional(), instruction: z.string().min(1).max(20_000) }),
]);

const agentSchema = z.strictObject({
  role: z.string().trim().max(200).default(''),
  description: z.string().trim().max(2000).default(''),
  model: modelName.default(TEAM_MODEL),
  fallback: z.strictObject({ models: z.array(modelName).max(10).optional() }).optional(),
  tools: z.array(tool).max(TEAM_TOOLS.length).optional(),
  toolsets: z.array(toolset).max(30).optional(),
  memory_shared: z.boolean().optional(),
  instruction: z.string().max(50_000).default(''),
  sub_agents: names,
  handoffs: names,
  force_handoff: z.string().max(200).optional(),
  skills: skills.optional(),
  welcome_message: z.string().max(10_000).optional(),
  commands: z
    .union([z.record(z.string(), commandText), z.array(z.record(z.string(), commandText)).max(100)])
    .optional(),
  add_date: z.boolean().optional(),
  add_environment_info: z.boolean().optional(),
  add_prompt_files: z.array(z.string().min(1).max(500)).max(10).optional(),
  max_iterations: z.int().min(0).max(1000).optional(),
  structured_output: outputSchema.optional(),
  readonly: z.boolean().optional(),
  rag: z.array(z.string().max(200)).max(20).optional(),
});
export type GivenAgent = z.output<typeof agentSchema>;

const shortText = z.string().max(20_000).optional();
const aboutSchema = z.strictObject({
  author: shortText,
  license: shortText,
  readme: shortText,
  version: z.union([z.string().max(200), z.number().transform(String)]).optional(),
  tags: z.array(z.string().max(200)).max(50).optional(),
});
export type About = z.output<typeof aboutSchema>;

export const teamSchema = z.strictObject({
  version: z.union([z.string().max(50), z.number()]).optional(),
  name: z.string().trim().min(1).max(200).optional(),
  description: z.string().max(5000).optional(),
  metadata: aboutSchema.extend({ description: z.string().max(5000).optional() }).optional(),
  /** Agents may name one of these in place of a model. */
  models: z.record(z.string(), z.unknown()).default({}),
  mcps: z.record(z.string(), mcpDefinition).default({}),
  providers: z.record(z.string(), z.unknown()).default({}),
  rag: z.unknown().optional(),
  permissions: permissionsSchema.optional(),
  agents: z
    .record(z.string(), agentSchema)
    .refine((agents) => Object.keys(agents).every((name) => AGENT_NAME.test(name)), {
      message: 'agent names are letters, digits, _ and -, at most 64',
    })
    .refine((agents) => Object.keys(agents).length > 0, { message: 'a team needs at least one agent' })
    .refine((agents) => Object.keys(agents).length <= MAX_AGENTS, { message: `at most ${MAX_AGENTS} agents` }),
});
export type GivenTeam = z.output<typeof teamSchema>;
