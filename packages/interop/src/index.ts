export { bodyProblem, callsIn, createPlaces, MOST_MARKS } from './mcp/bounds.ts';
export { createMcpFace, faceOf, type McpFace, type McpFaceOptions, type McpRequest } from './mcp/face.ts';
export { isListening, scopesOf } from './mcp/scopes.ts';
export { McpRefusal, mcpTool, type McpCall, type McpReply, type McpTool } from './mcp/tool.ts';
export { lastMessages, type LoggedEvent } from './mcp/conversation.ts';
export { listed, talkTools, type Asked, type Conversation, type Talk } from './mcp/talk-tools.ts';
export { callOf, ManagedTranslator, type ManagedEvent, type ServerOf, type Step } from './managed/events.ts';
