/** The shapes that everything above the providers speaks: OpenAI's chat format, whatever the provider's own is. */

export interface ToolCall {
  id: string;
  type: 'function';
  /** `arguments` is JSON text, as the model wrote it: it may be broken. */
  function: { name: string; arguments: string };
}

export interface TextPart {
  type: 'text';
  text: string;
}

export interface ImagePart {
  type: 'image_url';
  image_url: { url: string; detail?: string };
}

export type Content = string | (TextPart | ImagePart)[];

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
}

export interface ToolMessage {
  role: 'tool';
  content: Content;
  tool_call_id: string;
}

export type ChatMessage = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

export interface ToolDefinition {
  type: 'function';
  function: { name: string; description?: string; parameters?: Record<string, unknown>; strict?: boolean | null };
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
}

/** On whose account a call is made. */
export interface CallScope {
  userId: string;
  agentId?: string;
  runId?: string;
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
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

export interface ChatResult {
  id: string;
  /** The model that served, which is not the one asked for when the fallback did. */
  model: string;
  provider: string;
  message: AssistantMessage;
  finishReason: FinishReason;
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
}

/** A piece of a streamed answer. The last one has `finishReason`, `usage` and `costMicros`. */
export interface ChatDelta {
  id: string;
  model: string;
  provider: string;
  content?: string;
  toolCalls?: ToolCallDelta[];
  finishReason?: FinishReason;
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
