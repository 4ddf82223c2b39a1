/** What a program may be given by the person it works for, in words for both. */
export const CLIENT_SCOPES = {
  'agents:read': 'See your agents, their conversations, memory and tasks',
  'agents:talk': 'Talk to your agents, which may use their tools and cost money',
  'tasks:write': 'Make, change and delete scheduled tasks',
} as const;
export type ClientScope = keyof typeof CLIENT_SCOPES;

/** Asks for a token that lasts beyond an hour; it opens nothing by itself. */
export const OFFLINE_SCOPE = 'offline_access';

export const isClientScope = (given: string): given is ClientScope => Object.hasOwn(CLIENT_SCOPES, given);

/** Scopes from their text form; what is unknown is left out. */
export const readScopes = (text: string): ClientScope[] => [...new Set(text.split(' ').filter(isClientScope))];
