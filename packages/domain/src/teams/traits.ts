import { z } from 'zod';
import { webAddress } from '../web-address.ts';

/** What a team's document says of an agent beyond its instruction, model and toolsets. */

const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'names are letters, digits, _ and -, at most 64');
const toolsetName = z.string().max(64);
const modelName = z.string().trim().min(1).max(200);
const jsonObject = z.record(z.string(), z.unknown());

export const samplingSchema = z.object({
  max_tokens: z.int().min(1).max(10_000_000).optional(),
  temperature: z.number().min(0).max(2).optional(),
  top_p: z.number().min(0).max(1).optional(),
  frequency_penalty: z.number().min(-2).max(2).optional(),
  presence_penalty: z.number().min(-2).max(2).optional(),
  parallel_tool_calls: z.boolean().optional(),
  reasoning: z
    .object({
      effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).optional(),
      max_tokens: z.int().min(1).max(1_000_000).optional(),
      adaptive: z.boolean().optional(),
      /** Thoughts between calls of tools, with models that are told so. */
      interleaved: z.literal(true).optional(),
    })
    .optional(),
});
export type Sampling = z.output<typeof samplingSchema>;

const parameters = z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/), jsonObject);
const required = z.array(z.string()).max(50);

export const scriptSchema = z
  .strictObject({
    cmd: z.string().min(1).max(10_000),
    description: z.string().max(2000).optional(),
    args: parameters.optional(),
    required: required.optional(),
    env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string().max(10_000)).optional(),
    working_dir: z.string().min(1).max(1000).optional(),
  })
  .refine(({ args = {}, required: needed = [] }) => needed.every((one) => Object.hasOwn(args, one)), {
    message: 'required names an argument that is not among args',
  });
export type ScriptTool = z.output<typeof scriptSchema>;

export const apiSchema = z.strictObject({
  name,
  instruction: z.string().max(4000).optional(),
  endpoint: webAddress.refine(
    (address) => /^https?:\/\/[^/?#${}@]+([/?#]|$)/i.test(address),
    'no argument may choose the server',
  ),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).default('GET'),
  headers: z.record(z.string().regex(/^[A-Za-z0-9-]{1,100}$/), z.string().max(4000)).optional(),
  args: parameters.optional(),
  required: required.optional(),
  /** What the answer looks like: told to the model. */
  output_schema: jsonObject.optional(),
});
export type ApiTool = z.output<typeof apiSchema>;

export const outputSchema = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  description: z.string().max(2000).optional(),
  strict: z.boolean().optional(),
  schema: jsonObject,
});

const command = z.strictObject({
  description: z.string().max(500).optional(),
  instruction: z.string().min(1).max(20_000),
});
export const commandsSchema = z.record(name, command);

export const postEditSchema = z.strictObject({
  path: z.string().min(1).max(300),
  cmd: z.string().min(1).max(10_000),
});

export const a2aSchema = z.object({
  name,
  url: webAddress,
  headers: z.record(z.string().regex(/^[A-Za-z0-9-]{1,100}$/), z.string().max(4000)).optional(),
});
export type A2aAgent = z.output<typeof a2aSchema>;

export const openApiSchema = a2aSchema.omit({ name: true });
export type OpenApi = z.output<typeof openApiSchema>;

export const deferSchema = z.union([z.boolean(), z.array(z.string().max(200)).max(200)]);

export const traitsSchema = z.object({
  /** Shown where a conversation begins. */
  welcome: z.string().max(10_000).optional(),
  /** Texts that a message which begins with `/name` stands for. */
  commands: commandsSchema.optional(),
  addDate: z.literal(true).optional(),
  addEnvironment: z.literal(true).optional(),
  /** Files of the workspace that are shown to the model with every call. */
  promptFiles: z.array(z.string().min(1).max(500)).max(10).optional(),
  /** Only tools that change nothing are offered. */
  readonly: z.literal(true).optional(),
  /** Of a toolset, the tools that are offered; all of one that is not named. */
  offered: z.record(toolsetName, z.array(z.string().max(200)).max(200)).optional(),
  /** What is said to the model about a toolset, in place of what is said otherwise. */
  hints: z.record(toolsetName, z.string().max(20_000)).optional(),
  /** Who reads the results of a toolset's tools. */
  toolModels: z.record(toolsetName, modelName).optional(),
  /** Who answers a question that is like one of the examples; the agent's model answers the others. */
  routing: z
    .array(z.object({ model: modelName, examples: z.array(z.string().max(2000)).max(100) }))
    .max(20)
    .optional(),
  /** Models that the agent may change to by itself. */
  pickable: z.array(modelName).max(20).optional(),
  /** Commands that run after a file was written whose path is like `path`. */
  postEdit: z.array(postEditSchema).max(20).optional(),
  /** Models that answer in turn; the first is the agent's. */
  inTurn: z.array(modelName).max(10).optional(),
  sampling: samplingSchema.optional(),
  /** What every answer looks like. */
  output: outputSchema.optional(),
  scripts: z.record(name, scriptSchema).optional(),
  apis: z.array(apiSchema).max(50).optional(),
  /** Interfaces whose operations are tools. */
  openapi: z.array(openApiSchema).max(10).optional(),
  /** Agents elsewhere that it may ask. */
  agents: z.array(a2aSchema).max(20).optional(),
  /** Of a toolset, the tools whose results in JSON are written shorter, `*` as wildcard. */
  toon: z.record(toolsetName, z.array(z.string().max(200)).max(50)).optional(),
  /** It may give members of its team work and go on meanwhile. */
  background: z.literal(true).optional(),
  /** Tools that are shown once they were looked for: all of a toolset, or these. */
  deferred: z.record(toolsetName, z.union([z.literal(true), z.array(z.string().max(200)).max(200)])).optional(),
});
export type Traits = z.output<typeof traitsSchema>;
export type Routing = NonNullable<Traits['routing']>;
