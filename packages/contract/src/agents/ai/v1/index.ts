export { completeChat } from './chat.ts';
export { createEmbeddings } from './embeddings.ts';
export { errorType, shapedError, shapeFor, type ErrorShape } from './errors.ts';
export { countTokens, createMessage } from './messages.ts';
export { getModel, getVendorsModel, listModels } from './models.ts';
export { cancelResponse, createResponse, deleteResponse, getResponse, listResponseInput } from './responses.ts';
