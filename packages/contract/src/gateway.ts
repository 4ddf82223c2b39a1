/** What an agent’s own gateway answers, through the backend, by slice. */

export * as background from './agents/background/gateway.ts';
export * as connections from './agents/connections/gateway.ts';
export * as conversations from './agents/conversations/gateway.ts';
export * as files from './agents/files/gateway.ts';
export * as memory from './agents/memory/gateway.ts';
export * as runtime from './agents/runtime/gateway.ts';
