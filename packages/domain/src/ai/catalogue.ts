/**
 * Every model that the platform knows, what it costs, who serves it and which plan may use it. An operator replaces the
 * whole of it with a JSON file of the same shape (AI_CATALOGUE). Pure data and look-ups.
 */

/** US dollars per million tokens. */
export interface Rates {
  inputRate: number;
  outputRate: number;
  /** For what was read from the provider's cache; as all input unless said. */
  cachedRate?: number | undefined;
}

export interface CatalogueModel extends Rates {
  id: string;
  name: string;
  description: string;
  tags: string[];
  contextWindow: number;
  /** Provider → the name it knows the model by. The first configured provider serves it. */
  servedBy: Record<string, string>;
}

export interface Catalogue {
  models: CatalogueModel[];
  /** They turn texts into numbers; every plan has them. */
  embeddings: CatalogueModel[];
  /** For models that are not listed. */
  defaultRates: Rates;
  /** Plan → ids of its models, or `all`. */
  plans: Record<string, string[] | 'all'>;
  /** Task type → model ids, best first. An unknown task type counts as `general`. */
  taskTypes: Record<string, string[]>;
  /** Provider → the model it serves by itself and the one that steps in when a model of it fails. */
  providers: Record<string, { primary: string; fallback: string }>;
  /** Ids of the models of the public demo, the default first. */
  demo: string[];
  premium: string;
  second: string;
  teamDefault: string;
  /** Providers that administrators have named themselves: their models, `name/model`, are in every plan. */
  open?: readonly string[];
}

export const SANDBOX_MODEL = 'sandbox/echo';

const M = 1_000_000;

/** The third and fourth cells are the rates in and out. */
const MODELS: [string, string, number, number, number, string[], string, Record<string, string>][] = [
  [
    'xiaomi/mimo-v2-pro',
    'MiMo V2 Pro',
    0.2,
    0.6,
    262_144,
    ['fast', 'general'],
    'Quick and cheap, for everyday work',
    {},
  ],
  [
    'openai/gpt-4o-mini',
    'GPT-4o mini',
    0.15,
    0.6,
    128_000,
    ['fast', 'general', 'vision'],
    'Small and capable',
    { openai: 'gpt-4o-mini' },
  ],
  [
    'google/gemini-2.0-flash',
    'Gemini 2.0 Flash',
    0.15,
    0.6,
    M,
    ['fast', 'vision', 'long-context'],
    'Fast, with a long context',
    { openrouter: 'google/gemini-2.0-flash-001', gemini: 'gemini-2.0-flash' },
  ],
  [
    'openai/gpt-4o',
    'GPT-4o',
    5,
    15,
    128_000,
    ['general', 'coding', 'vision'],
    'Strong all-rounder',
    { openai: 'gpt-4o' },
  ],
  [
    'anthropic/claude-3.5-sonnet',
    'Claude 3.5 Sonnet',
    3,
    15,
    200_000,
    ['coding', 'analysis', 'creative'],
    'Strong at code and writing',
    { anthropic: 'claude-3-5-sonnet-20241022' },
  ],
  [
    'openai/gpt-4-turbo',
    'GPT-4 Turbo',
    10,
    30,
    128_000,
    ['general', 'analysis'],
    'Large model of the previous generation',
    { openai: 'gpt-4-turbo' },
  ],
  [
    'anthropic/claude-3-opus',
    'Claude 3 Opus',
    15,
    75,
    200_000,
    ['reasoning', 'creative'],
    'Thorough, for hard questions',
    { anthropic: 'claude-3-opus-20240229' },
  ],
  [
    'anthropic/claude-sonnet-4.5',
    'Claude Sonnet 4.5',
    3,
    15,
    200_000,
    ['coding', 'reasoning', 'agents'],
    'Made for agents and code',
    { anthropic: 'claude-sonnet-4-5' },
  ],
  [
    'google/gemini-2.5-flash',
    'Gemini 2.5 Flash',
    0.15,
    0.6,
    M,
    ['fast', 'vision', 'long-context'],
    'Fast, with a long context and thinking',
    { gemini: 'gemini-2.5-flash' },
  ],
  ['deepseek/deepseek-r1', 'DeepSeek R1', 0.55, 2.19, 128_000, ['reasoning'], 'Reasons step by step', {}],
  [
    'minimax/minimax-chat',
    'MiniMax Chat',
    0.2,
    1.1,
    M,
    ['general', 'long-context'],
    'Conversation with a long context',
    { openrouter: 'minimax/minimax-01' },
  ],
];

const listed = MODELS.map(([id, name, inputRate, outputRate, contextWindow, tags, description, servedBy]) => ({
  id,
  name,
  description,
  tags,
  inputRate,
  outputRate,
  contextWindow,
  servedBy: { openrouter: id, ...servedBy },
}));

/** The third cell is the rate. */
const EMBEDDINGS: [string, string, number, number, Record<string, string>][] = [
  ['openai/text-embedding-3-small', 'Text Embedding 3 Small', 0.02, 8_191, { openai: 'text-embedding-3-small' }],
  ['openai/text-embedding-3-large', 'Text Embedding 3 Large', 0.13, 8_191, { openai: 'text-embedding-3-large' }],
  ['google/gemini-embedding-001', 'Gemini Embedding', 0.15, 2_048, { gemini: 'gemini-embedding-001' }],
];

const SOLO = ['openai/gpt-4o-mini', 'google/gemini-2.0-flash', 'xiaomi/mimo-v2-pro'];
const COLLECTIVE = [...SOLO, 'openai/gpt-4o', 'anthropic/claude-3.5-sonnet'];
const LABEL = [...COLLECTIVE, 'openai/gpt-4-turbo', 'anthropic/claude-3-opus'];

export const BUILT_IN_CATALOGUE: Catalogue = {
  models: [
    ...listed,
    {
      id: 'claude-opus-4-6',
      name: 'Claude Opus 4.6',
      description: 'The premium model: the hardest work',
      tags: ['reasoning', 'coding', 'agents', 'premium'],
      inputRate: 15,
      outputRate: 75,
      contextWindow: 200_000,
      servedBy: { anthropic: 'claude-opus-4-6', openrouter: 'anthropic/claude-opus-4.6' },
    },
    {
      id: 'gpt-4',
      name: 'GPT-4',
      description: 'Stands in for the premium model',
      tags: ['reasoning', 'general'],
      inputRate: 10,
      outputRate: 30,
      contextWindow: 8_192,
      servedBy: { openai: 'gpt-4', openrouter: 'openai/gpt-4' },
    },
    {
      id: SANDBOX_MODEL,
      name: 'Sandbox',
      description: 'Built in, needs no provider: echoes, and uses tools on plain commands',
      tags: ['sandbox'],
      inputRate: 0,
      outputRate: 0,
      contextWindow: 128_000,
      servedBy: { sandbox: SANDBOX_MODEL },
    },
  ],
  embeddings: EMBEDDINGS.map(([id, name, inputRate, contextWindow, servedBy]) => ({
    id,
    name,
    description: 'Turns texts into numbers that can be compared',
    tags: ['embeddings'],
    inputRate,
    outputRate: 0,
    contextWindow,
    servedBy: { openrouter: id, ...servedBy },
  })),
  defaultRates: { inputRate: 1, outputRate: 3 },
  plans: { solo: SOLO, collective: COLLECTIVE, label: LABEL, network: 'all' },
  taskTypes: {
    general: ['xiaomi/mimo-v2-pro', 'openai/gpt-4o-mini', 'google/gemini-2.0-flash', 'openai/gpt-4o'],
    fast: ['google/gemini-2.0-flash', 'openai/gpt-4o-mini', 'xiaomi/mimo-v2-pro'],
    coding: ['anthropic/claude-sonnet-4.5', 'anthropic/claude-3.5-sonnet', 'openai/gpt-4o', 'openai/gpt-4o-mini'],
    reasoning: [
      'claude-opus-4-6',
      'anthropic/claude-3-opus',
      'anthropic/claude-3.5-sonnet',
      'openai/gpt-4o',
      'xiaomi/mimo-v2-pro',
    ],
    analysis: [
      'anthropic/claude-sonnet-4.5',
      'anthropic/claude-3.5-sonnet',
      'openai/gpt-4o',
      'google/gemini-2.0-flash',
    ],
    creative: ['anthropic/claude-3-opus', 'anthropic/claude-3.5-sonnet', 'openai/gpt-4o', 'xiaomi/mimo-v2-pro'],
    vision: ['openai/gpt-4o', 'google/gemini-2.0-flash', 'openai/gpt-4o-mini'],
    premium: ['claude-opus-4-6', 'gpt-4', 'anthropic/claude-3-opus', 'anthropic/claude-3.5-sonnet'],
  },
  providers: {
    openrouter: { primary: 'xiaomi/mimo-v2-pro', fallback: 'openai/gpt-4o-mini' },
    anthropic: { primary: 'claude-opus-4-6', fallback: 'anthropic/claude-sonnet-4.5' },
    openai: { primary: 'openai/gpt-4o', fallback: 'openai/gpt-4o-mini' },
    gemini: { primary: 'google/gemini-2.5-flash', fallback: 'google/gemini-2.0-flash' },
    groq: { primary: 'groq/llama-3.3-70b-versatile', fallback: 'groq/llama-3.1-8b-instant' },
  },
  demo: [
    'xiaomi/mimo-v2-pro',
    'anthropic/claude-sonnet-4.5',
    'openai/gpt-4o',
    'google/gemini-2.5-flash',
    'deepseek/deepseek-r1',
    'minimax/minimax-chat',
  ],
  premium: 'claude-opus-4-6',
  second: 'gpt-4',
  teamDefault: 'openrouter/xiaomi/mimo-v2-pro',
};

/**
 * `openrouter/x/y` and `x/y` are one model; so are `anthropic/claude-opus-4-6` and `claude-opus-4-6`, and so is whatever
 * its providers call it: under no name has it another price or plan.
 */
export const findModel = (catalogue: Catalogue, id: string): CatalogueModel | undefined => named(catalogue.models, id);

export const findEmbedding = (catalogue: Catalogue, id: string): CatalogueModel | undefined =>
  named(catalogue.embeddings, id);

function named(models: readonly CatalogueModel[], id: string): CatalogueModel | undefined {
  const bare = id.replace(/^openrouter\//, '');
  const exact = models.find((model) => model.id === bare);
  if (exact) return exact;
  const name = baseName(bare);
  return (
    models.find((model) => baseName(model.id) === name && (model.id === name || !bare.includes('/'))) ??
    models.find((model) => Object.entries(model.servedBy).some((served) => isCalled(bare, ...served)))
  );
}

const isCalled = (id: string, provider: string, name: string): boolean =>
  id.endsWith(name) &&
  (id === name || id === `${provider}/${name}` || (provider === 'gemini' && id === `google/${name}`));

const baseName = (id: string): string => id.slice(id.lastIndexOf('/') + 1);

/** Families of models that take pictures, whoever serves them. */
const SEEING =
  /gpt-4o|gpt-4-turbo|gpt-4\.1|gpt-5|(?:^|\/)o[134](?:-|$)|claude|gemini|vision|llava|pixtral|[-_.]vl(?:[-_:]|$)|llama-4|gemma-?3/i;

/** Whether a model can be shown pictures. Of one that nobody says anything about: no. */
export const seesPictures = (catalogue: Catalogue, id: string): boolean =>
  findModel(catalogue, id)?.tags.includes('vision') === true || SEEING.test(id);

/** Rates are counted in whole steps of it, so that sums are exact: four decimals, and no rate is finer (AI_CATALOGUE). */
const RATE_STEPS = 10_000;

export const ratesOf = (catalogue: Catalogue, model: string): Rates =>
  findModel(catalogue, model) ?? catalogue.defaultRates;

/**
 * Integer millionths of a dollar, rounded up: a rate of 1 USD per million tokens is one millionth a token. `cached` of the
 * input came from the provider's cache.
 */
export function costMicros(
  { inputRate, outputRate, cachedRate = inputRate }: Rates,
  inputTokens: number,
  outputTokens: number,
  cached = 0,
): number {
  const micros =
    (inputTokens - cached) * Math.round(inputRate * RATE_STEPS) +
    cached * Math.round(cachedRate * RATE_STEPS) +
    outputTokens * Math.round(outputRate * RATE_STEPS);
  return Math.ceil(micros / RATE_STEPS);
}

/** `undefined` for a plan that is not in the catalogue. */
export const planModels = (catalogue: Catalogue, plan: string): string[] | 'all' | undefined => catalogue.plans[plan];

export function planAllows(catalogue: Catalogue, plan: string, model: string): boolean {
  const models = planModels(catalogue, plan);
  if (models === undefined) return false;
  if (models === 'all' || model === SANDBOX_MODEL) return true;
  if (catalogue.open?.includes(model.slice(0, model.indexOf('/')))) return true;
  const id = findModel(catalogue, model)?.id ?? model;
  return models.includes(id);
}

/** The ids to try for a task, best first, followed by all others of the plan. No plan: no restriction. */
export function taskModels(catalogue: Catalogue, taskType: string, plan?: string): string[] {
  const general = catalogue.taskTypes['general'] ?? [];
  const wished = Object.hasOwn(catalogue.taskTypes, taskType) ? catalogue.taskTypes[taskType]! : general;
  const rest = catalogue.models.map((model) => model.id).filter((id) => id !== SANDBOX_MODEL);
  const all = [...new Set([...wished, ...general, ...rest])];
  return plan === undefined ? all : all.filter((id) => planAllows(catalogue, plan, id));
}
