export { chatCompletions } from './chat.ts';
export { createEmbeddings } from './embeddings.ts';
export { errorType, shapedError, shapeFor, type ErrorShape } from './errors.ts';
export { countMessageTokens, createMessage } from './messages.ts';
export { getOpenaiModel, getVendorsModel, listOpenaiModels } from './models.ts';
export { createResponse } from './responses.ts';
