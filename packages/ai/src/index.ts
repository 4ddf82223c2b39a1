export { createAi, withScope, type Ai, type AiOptions } from './ai.ts';
export { AGGREGATOR, type AiModel, type Health } from './directory.ts';
export type { Bound, Meter, Reservation, UsageEvent } from './meter.ts';
export {
  namedProviders,
  ownProvidersFrom,
  providerOf,
  providersFrom,
  readCatalogue,
  type AiSettings,
} from './setup.ts';
export type { EmbeddingRequest, EmbeddingResult } from './embeddings.ts';
export type { Timeouts } from './upstream.ts';
export { chatFace, chatWriter } from './wire/chat-face.ts';
export type { Face, Failure, StreamWriter } from './wire/face.ts';
export { messagesFace, messagesRequest } from './wire/messages-face.ts';
export { responsesFace } from './wire/responses-face.ts';
export type { Provider } from './provider.ts';
export { createSwitchedAi } from './switched.ts';
export { tryProvider } from './try-provider.ts';
export type * from './types.ts';
export {
  createStandIn,
  replyChat,
  replyJson,
  type StandIn,
  type StandInHandler,
  type StandInRequest,
} from './stand-in.ts';
