/**
 * What is open on purpose: requests that name the owner's things and are answered to somebody else all the same. It
 * should stay short. Whatever is not here and answers with success, shows a word of the owner's or changes a row fails.
 */
export interface Opening {
  /** As in `web GET /api/keys`. */
  target: RegExp;
  /** Names of callers; left out: everybody. */
  to?: RegExp;
  /** Left out: in every shape. */
  shape?: 'loopback';
  /** The marks that it may show; left out: none. */
  shows?: RegExp;
  /** It may change what the owner has: then it is not called at all, and its own tests say what it does. */
  changes?: true;
  reason: string;
}

const ADMINISTRATOR = /^an administrator/;

export const OPEN: readonly Opening[] = [
  {
    target: /^web GET \/w\/:key$/,
    shows: /xwidgetz$/,
    reason: 'the page of a widget is for whoever has its key; the owner says whether there is one',
  },
  {
    target: /^backend GET \/\.well-known\/oauth-protected-resource\/api\/runtime\/proxy\/:agentId\/mcp$/,
    reason: 'who gives tokens for the address that was asked about, whether or not there is such an agent',
  },
  {
    target: /^gateway GET \/(health|ready)$/,
    reason: 'says that the agent is there, to whoever knows its id',
  },
  {
    target: /^gateway GET \/\.well-known\/agent-card\.json$/,
    shows: /xagentz$/,
    reason: 'the A2A card is how agents find each other: the name, nothing of what the agent is told or knows',
  },
  {
    target: /^(web|backend) GET \/api\/underground\/events\/:id$/,
    shows: /x(event|eventText|venue)z$/,
    reason: 'an event is announced: whoever may buy a ticket sees it',
  },
  {
    target:
      /^web (GET \/api\/(scheduled-tasks|usage\/\S+|costs|audit)|POST \/api\/notices\/read|(PUT|DELETE) \/api\/inbox\/marks(\/:item)?|POST \/api\/inbox\/decisions|PUT \/api\/usage\/caps)$/,
    reason: 'the id only narrows what is the caller’s own',
  },
  {
    target: /^(web|backend) GET \/api\/underground\/bus\/messages$/,
    reason: 'the id only narrows what is the caller’s own',
  },
  {
    target: /^backend GET \/v1\/mcp_servers$/,
    to: /^another agent's key$/,
    reason: 'an agent’s own key means that agent, whatever the header says: it is given its own owner’s servers',
  },
  {
    target: /^backend POST \/v1\/knowledge\/search$/,
    to: /^another agent's key$/,
    reason: 'an agent’s own key means that agent, whatever the header says: it searches what that one was given',
  },
  {
    target: /^backend POST \/v1\/knowledge\/find$/,
    reason: 'the ids only narrow what is the caller’s own: in somebody else’s collections nothing is found',
  },
  {
    target: /^backend DELETE \/api\/agents\/:id$/,
    to: /internal key for another user/,
    reason: 'one that the user does not have counts as deleted, so that a repeat succeeds; nothing is touched',
  },
  {
    target: /^backend POST \/api\/heartbeat$/,
    reason: 'a heartbeat for somebody else is answered and changes nothing, so that nobody learns who exists',
  },
  {
    target: /^web (GET|POST) \/api\/auth\/token-gating\/verify$/,
    reason: 'asks the chain about an address, which everybody can',
  },
  {
    target: /^web GET \/api\/admin\/(users|invites)$/,
    to: ADMINISTRATOR,
    shows: /x(email|person|invite)z$|owner's (invite|userId)$/,
    reason: 'administrators see who is there and who was invited',
  },
  {
    target: /^web GET \/api\/admin\/costs(\/export)?$/,
    to: ADMINISTRATOR,
    shows: /x(email|agent)z$/,
    reason: 'administrators see what everybody’s agents cost',
  },
  {
    target: /^web GET \/api\/audit$/,
    to: ADMINISTRATOR,
    shows: /x(email|audit|auditIp|invite|agent)z$/,
    reason: 'administrators see everybody’s audit log',
  },
  {
    target: /^web PATCH \/api\/admin\/users\/:id$/,
    to: ADMINISTRATOR,
    changes: true,
    reason: 'administrators change plans',
  },
  {
    target: /^web DELETE \/api\/admin\/users\/:id\/factors$/,
    to: ADMINISTRATOR,
    changes: true,
    reason: 'administrators remove the second factors of somebody who lost them',
  },
  {
    target: /^web POST \/api\/account\/close$/,
    to: /^(another user|an administrator)/,
    changes: true,
    reason: 'it closes the caller’s own account, who would be nobody for the rest of the test',
  },
  {
    target: /^web GET \/api\/wallet\/ledger$/,
    to: ADMINISTRATOR,
    reason: 'administrators see what an address has in the ledger',
  },
  {
    target: /^(web|backend) POST \/api\/register-(home|link)$|^backend POST \/api\/heartbeat$/,
    shape: 'loopback',
    changes: true,
    reason: 'the loopback rule: who is on this machine may register an installation for a user',
  },
  {
    target: /^backend GET \/api\/installations$/,
    shape: 'loopback',
    shows: /owner's userId$/,
    reason: 'the loopback rule: identity headers are believed',
  },
  {
    target: /^web (GET|POST|DELETE) \/api\/wallet\/sessions$/,
    shape: 'loopback',
    changes: true,
    reason: 'the loopback rule: payment sessions are opened and closed without a proof of the address',
  },
];
