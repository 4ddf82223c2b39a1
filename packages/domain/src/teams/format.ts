/**
 * Every key and toolset of docker-agent's YAML, and what becomes of it here. A key that is not in this table is an error
 * that names it; docs/teams.md shows the same table, and a test compares them.
 */

/**
 * `carried`: it does here what it does there. `asked`: it says what has to be there, and its owner is told to see to that.
 * `lost`: left out, and the reply says so. `refused`: the file is not taken.
 */
type Fate = 'carried' | 'asked' | 'lost' | 'refused';

export interface Rule {
  fate: Fate;
  /** What happens instead, or why not. */
  says: string;
}

const carried = (says = ''): Rule => ({ fate: 'carried', says });
const lost = (says: string): Rule => ({ fate: 'lost', says });
const asked = (says: string): Rule => ({ fate: 'asked', says });
const refused = (says: string): Rule => ({ fate: 'refused', says });

type Keys = Readonly<Record<string, Rule>>;

const BUDGET =
  'spending is bounded by the limits of each agent and the pot of the team, not by its document: take the key out and set those';

export const TEAM_KEYS: Keys = {
  version: carried('Any version is read.'),
  name: carried('Of this platform.'),
  description: carried('Of this platform.'),
  metadata: carried('Kept in the team’s document.'),
  agents: carried('The one called root leads, or the first.'),
  models: carried(),
  mcps: carried('Named by `ref` in toolsets.'),
  permissions: carried('They hold for every agent of the team.'),
  providers: carried('Each is to be given: an administrator makes a provider of that name and address.'),
  rag: carried('Each becomes a collection of knowledge, with its files where they are imported together.'),
  commands: refused('commands belong to an agent: write them there'),
  skills: refused('skills are not written into a team: put them into your library and name them in its agents'),
  toolsets: refused('toolsets belong to an agent: write them there'),
  runtime: refused('how a team is run is set by the platform'),
  budget: refused(BUDGET),
  budgets: refused(BUDGET),
  flavors: refused('a document describes one team: write the flavor that you want into it'),
};

export const METADATA_KEYS: Keys = {
  author: carried(),
  license: carried(),
  readme: carried(),
  description: carried('Also the team’s description.'),
  version: carried(),
  tags: carried(),
};

export const AGENT_KEYS: Keys = {
  role: carried('Of this platform.'),
  tools: carried('Of this platform: toolsets by name.'),
  memory_shared: carried('Of this platform.'),
  description: carried(),
  instruction: carried(),
  model: carried('Several with commas between them answer in turn.'),
  fallback: carried(),
  toolsets: carried('See below.'),
  sub_agents: carried('Agents of the same document.'),
  skills: carried('Names of your library.'),
  welcome_message: carried('Shown where a conversation begins.'),
  commands: carried('A message `/name` stands for the text.'),
  add_date: carried(),
  add_environment_info: carried(),
  add_prompt_files: carried('Files of the agent’s workspace.'),
  max_iterations: carried('Turns of a run.'),
  structured_output: carried(),
  readonly: carried('Tools that change something are not offered.'),
  handoffs: carried('Agents of the same document, which answer from then on.'),
  force_handoff: carried('This agent goes on with each of its answers, and from then on.'),
  rag: carried('It searches these collections.'),
  code_mode_tools: lost('tools are called one by one, not from a script'),
  num_history_items: lost('older parts of a conversation are summed up instead of cut off'),
  add_description_parameter: lost('calls of tools are shown with their arguments'),
  hooks: refused('hooks may stop a call, and are not run here: say it with permissions'),
  budgets: refused(BUDGET),
  safety: refused('say with permissions what must be asked or denied'),
  redact_secrets: refused('nothing is taken out of what the model reads: give it no secrets, and leave the key out'),
};

export const FALLBACK_KEYS: Keys = {
  models: carried(),
  retries: lost('each model is tried as often as the platform finds right'),
  cooldown: lost('every turn begins with the first model'),
};

export const MODEL_KEYS: Keys = {
  provider: carried(),
  model: carried(),
  max_tokens: carried(),
  temperature: carried(),
  top_p: carried(),
  frequency_penalty: carried(),
  presence_penalty: carried(),
  parallel_tool_calls: carried(),
  thinking_budget: carried(),
  track_usage: carried('Usage is always counted.'),
  base_url: carried('The model is then that of a provider named by the host, which an administrator makes.'),
  token_key: carried('The key is given to that provider.'),
  provider_opts: carried('See below.'),
  routing: carried('The model whose examples have most words in common with the question.'),
};

export const PROVIDER_KEYS: Keys = {
  base_url: carried('Told to the administrator.'),
  token_key: carried('Told to the administrator.'),
  api_type: carried('A provider is asked by chat completions, whichever it is.'),
};

/** Options of a single provider. */
export const PROVIDER_OPTS: Keys = {
  region: asked('the region is set where an administrator makes the provider'),
  profile: asked('the account is set where an administrator makes the provider'),
  interleaved_thinking: carried('Of Bedrock, with a thinking_budget; elsewhere it is named.'),
};

export const RAG_KEYS: Keys = {
  tool: carried(),
  description: carried(),
  docs: carried('Files, folders and patterns, from where the document stands.'),
  respect_vcs: lost('what is uploaded is taken, whatever version control leaves out'),
  strategies: carried(
    'Search by words (`bm25`) and by meaning (`chunked-embeddings`, `semantic-embeddings`); others are named, and their documents searched by words.',
  ),
  results: carried(),
};

export const RAG_TOOL_KEYS: Keys = {
  name: lost('the tool is search_knowledge, for all collections of an agent'),
  description: carried('What is said of the collection.'),
  instruction: carried('Told to the agents that search it.'),
};

export const RAG_STRATEGY_KEYS: Keys = {
  type: carried(),
  docs: carried(),
  database: carried('The index is kept by the platform.'),
  k1: carried(),
  b: carried(),
  threshold: carried(),
  limit: carried('20 at most.'),
  chunking: carried(),
};

/** Of a search by meaning: the passages are those of the search by words, which there always is. */
export const RAG_MEANING_KEYS: Keys = {
  type: carried(),
  docs: carried(),
  embedding_model: carried(
    'The collection is searched by it, too: its texts and the questions go there, on your account.',
  ),
  model: carried('The same.'),
  database: carried('The index is kept by the platform.'),
  vector_dimensions: carried('As many as the model gives.'),
  similarity_metric: carried('By the angle; another is named.'),
  batch_size: carried('The platform chooses.'),
  embedding_batch_size: carried('The platform chooses.'),
  max_embedding_concurrency: carried('The platform chooses.'),
  max_indexing_concurrency: carried('The platform chooses.'),
  limit: carried('20 at most; that of a search by words goes before.'),
  chunking: carried('That of a search by words goes before.'),
  threshold: lost('what lies far below the nearest is left out'),
  chat_model: lost('passages are compared as they are, not by what a model says of them'),
  semantic_prompt: lost('passages are compared as they are, not by what a model says of them'),
  ast_context: lost('passages are compared as they are'),
};

export const RAG_CHUNKING_KEYS: Keys = {
  size: carried('200 to 4,000 characters, cut at headings and between paragraphs first.'),
  overlap: carried(),
  respect_word_boundaries: carried('Always.'),
  code_aware: lost('code is cut between paragraphs and lines'),
};

export const RAG_RESULT_KEYS: Keys = {
  limit: carried('20 at most.'),
  deduplicate: carried('Always.'),
  fusion: carried('By reciprocal rank (`rrf`, 60); another way is named.'),
  reranking: lost('passages come in the order of the search'),
  include_score: lost('passages come in order, without a number'),
  return_full_content: lost('an agent reads on from a passage with read_passage'),
};

/** Of every toolset. */
const COMMON: Keys = {
  type: carried(),
  instruction: carried('`{ORIGINAL_INSTRUCTIONS}` stands for what is said otherwise.'),
  tools: carried('Only these are offered.'),
  model: carried('Reads the results of these tools.'),
  defer: carried('Its tools are shown once the agent has looked for them with search_tool.'),
  toon: carried('Results in JSON are written shorter. Names of tools, `.*` as wildcard.'),
};

const NONE: Keys = {};

interface Toolset extends Rule {
  keys: Keys;
}

const has = (keys: Keys = NONE, says = ''): Toolset => ({ fate: 'carried', says, keys });
const missing = (says: string): Toolset => ({ fate: 'lost', says, keys: NONE });

export const MCP_KEYS: Keys = {
  name: carried(),
  command: carried(
    'Runs in the sandbox, and reaches the domains that the agent may reach. Docker’s gateway is its servers.',
  ),
  args: carried(),
  env: carried('Values that the file does not have are to be given.'),
  remote: carried('Streamable HTTP and SSE, with headers.'),
  ref: carried('A name of `mcps`, or of Docker’s catalogue where the server can be had without Docker.'),
  version: asked('nothing is installed by itself: put the program into the agent’s workspace, or into its image'),
  config: carried('Of servers of the catalogue that are known here: as arguments, or to be given. Others are named.'),
  working_dir: lost('it starts in the agent’s workspace'),
};

export const TOOLSETS: Readonly<Record<string, Toolset>> = {
  filesystem: has(
    {
      ignore_vcs: lost('version control is not left out of what is listed and searched'),
      post_edit: carried('Runs in the sandbox; `$path` is the file.'),
    },
    'The agent’s workspace.',
  ),
  shell: has({ env: lost('commands see no variables of the file') }, 'Commands run in the sandbox.'),
  think: has({ shared: lost('thoughts are the agent’s own') }),
  todo: has({ shared: carried('`memory_shared` says it for memory and to-do list together.') }),
  memory: has({ path: carried('Agents that name the same path share one memory; it is kept by the platform.') }),
  background_jobs: has(NONE, 'Commands run in the sandbox, and end with the run that began them.'),
  browser: has(NONE, 'Of this platform: a browser in the sandbox.'),
  code: has(NONE, 'Of this platform: JavaScript and Python in the sandbox.'),
  fetch: has({ timeout: lost('how long a page may take is the platform’s to say') }),
  script: has({ shell: carried('Each is a tool that runs in the sandbox.') }),
  api: has({ api_config: carried() }),
  model_picker: has({ models: carried('The agent may change to these, and back.') }),
  a2a: has({ name: carried(), url: carried('Where the agent takes messages.'), headers: carried() }),
  openapi: has({ url: carried('A document in JSON; each operation is a tool, 64 at most.'), headers: carried() }),
  background_agents: has(NONE, 'Members of the team work while it goes on; results come by themselves.'),
  mcp: has(MCP_KEYS),
  mcp_catalog: missing('servers are attached by the owner, not found by the agent'),
  file: missing('use filesystem'),
  tasks: missing('use todo'),
  plan: missing('use todo'),
  session_plan: missing('use todo'),
  session_context: missing('the conversation is shown to the model anyway'),
  lsp: missing('language servers are not started'),
  user_prompt: has(NONE, 'The question waits in the conversation and in the inbox; the answer is text.'),
  open_url: missing('there is no browser of the user to open'),
  scheduler: missing('the owner schedules tasks'),
  rag: has(
    {
      ref: carried('A name of `rag`.'),
      instruction: lost('say it with tool.instruction of the source'),
      tools: refused('an agent has both tools for its documents, or names no source'),
      model: lost('the agent itself reads what is found'),
      defer: lost('the two tools are always shown'),
      toon: lost('what is found is no JSON'),
    },
    'The same as `rag` of the agent.',
  ),
  git: missing('use shell'),
  webhook: missing('the owner sets webhooks up'),
};

/** The rules for the keys of a toolset. */
export const toolsetKeys = (type: string): Keys => ({ ...COMMON, ...TOOLSETS[type]?.keys });

export const REMOTE_KEYS: Keys = { url: carried(), transport_type: carried(), headers: carried() };
