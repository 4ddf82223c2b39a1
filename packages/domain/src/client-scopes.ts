/** What a program may be given by the person it works for, in words for both. */
export const CLIENT_SCOPES = {
  'agents:read': 'See your agents, their conversations, memory and tasks',
  'agents:talk': 'Talk to your agents, which may use their tools and cost money',
  'tasks:write': 'Make, change and delete scheduled tasks',
} as const;
export type ClientScope = keyof typeof CLIENT_SCOPES;

/** Asks for an API key, which is all that its person may do; for the command `troupe` and what else is on her own computer. */
export const ACCOUNT_SCOPE = 'account';
export type GivenScope = ClientScope | typeof ACCOUNT_SCOPE;

const TEXTS = new Map<string, string>([
  ...Object.entries(CLIENT_SCOPES),
  [ACCOUNT_SCOPE, 'Act as you, with all your agents. It gets an API key, which stays until you delete it'],
]);
/** In words; one that is not known is its own. */
export const scopeText = (scope: string): string => TEXTS.get(scope) ?? scope;

/** Asks for a token that lasts beyond an hour; it opens nothing by itself. */
export const OFFLINE_SCOPE = 'offline_access';

const isClientScope = (given: string): given is ClientScope => Object.hasOwn(CLIENT_SCOPES, given);

/** Scopes from their text form; what is unknown is left out. */
export const readScopes = (text: string): ClientScope[] => [...new Set(text.split(' ').filter(isClientScope))];
