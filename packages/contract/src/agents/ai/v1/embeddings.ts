import { z } from 'zod';
import { endpoint } from '../../../endpoint.ts';
import { MODEL_ERRORS, REFUSED, modelName, MOST_BODY, orNull, service, tag } from './fields.ts';

const MOST_INPUTS = 2048;
const token = z.int().min(0).max(10_000_000);
const INPUT = `input must be a text, or a list of at most ${MOST_INPUTS} texts or lists of tokens, none of them empty`;
const list = <S extends z.ZodType>(schema: S, most = MOST_INPUTS) => z.array(schema).min(1).max(most);
const tokens = list(token, 100_000);

export const createEmbeddings = endpoint({
  service,
  method: 'POST',
  path: '/v1/embeddings',
  auth: 'internalOrKey',
  tag,
  pages: true,
  errorShape: 'openai',
  bodyLimit: MOST_BODY,
  summary: 'OpenAI-compatible embeddings',
  body: z.object({
    model: modelName,
    input: z.union([z.string().min(1), list(z.string().min(1)), tokens, list(tokens)], INPUT),
    ...orNull({
      dimensions: z.int().min(1).max(100_000),
      encoding_format: z.enum(['float', 'base64']),
    }),
  }),
  reply: z.looseObject({
    object: z.literal('list'),
    model: z.string(),
    data: z.array(z.looseObject({ index: z.number(), embedding: z.union([z.array(z.number()), z.string()]) })),
    usage: z.object({ prompt_tokens: z.number(), total_tokens: z.number() }),
  }),
  errors: { ...MODEL_ERRORS, 400: [REFUSED, INPUT], 404: ['No provider here makes embeddings with <model>'] },
});
