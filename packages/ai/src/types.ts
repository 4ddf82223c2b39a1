/** The shapes that everything above the providers speaks: OpenAI's chat format, whatever the provider's own is. */

export interface ToolCall extends Marked {
  id: string;
  type: 'function';
  /** `arguments` is JSON text, as the model wrote it: it may be broken. */
  function: { name: string; arguments: string };
  extra_content?: Signed | undefined;
}

/** What Gemini thought before a call, sealed: it wants to see it again. */
export interface Signed {
  google?: { thought_signature?: string | undefined } | undefined;
}

/** Up to here the prompt may be kept by the provider, for the next call to be cheaper. */
export interface CacheControl {
  type: 'ephemeral';
  ttl?: string | undefined;
}

interface Marked {
  cache_control?: CacheControl | undefined;
}

export interface TextPart extends Marked {
  type: 'text';
  text: string;
}

export interface ImagePart extends Marked {
  type: 'image_url';
  image_url: { url: string; detail?: string | undefined };
}

/** `file_data` is a data URL or an address. */
export interface FilePart extends Marked {
  type: 'file';
  file: { filename?: string | undefined; file_data: string };
}

export type Part = TextPart | ImagePart | FilePart;
export type Content = string | Part[];

/** What a model thought before it spoke. With a signature the provider takes it back; `redacted` only the provider can read. */
export interface Thought {
  text: string;
  signature?: string | undefined;
  redacted?: string | undefined;
}

export interface SystemMessage {
  role: 'system' | 'developer';
  content: Content;
}

export interface UserMessage {
  role: 'user';
  content: Content;
}

export interface AssistantMessage {
  role: 'assistant';
  content: string | null;
  tool_calls?: ToolCall[];
  thoughts?: Thought[];
  /** The content is why it does not answer, where a model says so apart. */
  refused?: true;
}

/** As a caller gives it back. */
export interface AssistantTurn extends Omit<AssistantMessage, 'content' | 'tool_calls'> {
  content?: string | TextPart[] | null | undefined;
  tool_calls?: ToolCall[] | undefined;
}

export interface ToolMessage {
  role: 'tool';
  content: Content;
  tool_call_id: string;
  is_error?: boolean;
}

export type ChatMessage = SystemMessage | UserMessage | AssistantTurn | ToolMessage;

export interface ToolDefinition extends Marked {
  type: 'function';
  function: {
    name: string;
    description?: string | undefined;
    parameters?: Record<string, unknown> | undefined;
    strict?: boolean | null | undefined;
  };
}

export type ToolChoice = 'auto' | 'none' | 'required' | { type: 'function'; function: { name: string } };

export interface ChatRequest {
  /** Left out: chosen by `taskType` among the models that the plan allows. */
  model?: string;
  messages: ChatMessage[];
  taskType?: string;
  tools?: ToolDefinition[];
  tool_choice?: ToolChoice;
  parallel_tool_calls?: boolean;
  temperature?: number;
  top_p?: number;
  max_tokens?: number;
  stop?: string | string[];
  seed?: number;
  presence_penalty?: number;
  frequency_penalty?: number;
  response_format?: Record<string, unknown>;
  top_k?: number;
  reasoning?: Reasoning;
  prompt_cache_key?: string;
  verbosity?: string;
}

export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** How much a model may think first: a word, a number of tokens, or as it finds right. */
export interface Reasoning {
  effort?: Effort | undefined;
  max_tokens?: number | undefined;
  adaptive?: boolean | undefined;
  /** Also between calls of tools, where a model has to be told so. */
  interleaved?: true | undefined;
}

/** On whose account a call is made. */
export interface CallScope {
  userId: string;
  agentId?: string;
  runId?: string;
  /** The API key that a program showed. */
  keyId?: string;
  /** The plan whose models and quota apply; left out: no restriction (an administrator, the platform itself). */
  plan?: string;
}

/** The caller's own account at a provider: it is charged there, not here. */
export interface OwnKey {
  provider: string;
  apiKey: string;
}

export interface CallOptions {
  signal?: AbortSignal;
  scope?: CallScope;
  /** Plans and caps are about what the platform pays: they do not hold for a call with an own key. */
  ownKey?: OwnKey;
  /** `seen`: pictures are left out for a model that does not see; the words around them name them. Else they are sent on. */
  pictures?: 'seen';
  /** The agent's run that the call belongs to; goes into the scope. */
  runId?: string;
  /** Hears what a call has cost that was given up before its end. */
  onGivenUp?: (spent: Spending) => void;
}

/** What a call cost, and who served it. */
export type Spending = Pick<ChatResult, 'model' | 'provider' | 'usage' | 'costMicros'>;

export interface ChatUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  /** Of the prompt: read from the provider's cache, and written to it. Left out where the provider does not say. */
  prompt_tokens_details?: { cached_tokens: number; cache_write_tokens?: number };
  /** Of the completion: thought, not said. */
  completion_tokens_details?: { reasoning_tokens: number };
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

export interface ChatResult {
  id: string;
  /** The model that served, which is not the one asked for when the fallback did. */
  model: string;
  provider: string;
  message: AssistantMessage;
  finishReason: FinishReason;
  /** Of those that the caller gave, the one that the answer ended at, where the provider says. */
  stopSequence?: string | undefined;
  usage: ChatUsage;
  /** The provider gave no token counts: `usage` is an estimate. */
  usageEstimated: boolean;
  /** Millionths of a US dollar, from the catalogue's rates. */
  costMicros: number;
}

export interface ToolCallDelta {
  index: number;
  id?: string;
  type?: 'function';
  function?: { name?: string; arguments?: string };
  extra_content?: Signed | undefined;
}

/** A piece of a thought; another number is another thought. */
export interface ThoughtDelta extends Partial<Thought> {
  index: number;
}

/** A piece of a streamed answer. The last one has `finishReason`, `usage` and `costMicros`. */
export interface ChatDelta {
  id: string;
  model: string;
  provider: string;
  content?: string | undefined;
  /** The content is why it does not answer. */
  refused?: true;
  toolCalls?: ToolCallDelta[] | undefined;
  thoughts?: ThoughtDelta[] | undefined;
  finishReason?: FinishReason;
  stopSequence?: string | undefined;
  usage?: ChatUsage;
  usageEstimated?: boolean;
  costMicros?: number;
}

/** What an agent needs of the AI layer. Failures are AppErrors: 429 QUOTA_EXCEEDED, 403 MODEL_RESTRICTED, 502, … */
export interface ModelClient {
  chat: (request: ChatRequest, options?: CallOptions) => Promise<ChatResult>;
  /** Leaving the loop early, or aborting the signal, cancels the upstream call. */
  stream: (request: ChatRequest, options?: CallOptions) => AsyncIterable<ChatDelta>;
}
