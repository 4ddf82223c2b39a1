/** How a program says something to an agent. */
export const WAYS = ['curl', 'javascript', 'terminal'] as const;
export type Way = (typeof WAYS)[number];

export const HELLO = 'Say hello.';

/** `key`: as it stands in the text; a variable of the shell where it is not known. */
export function callsOf(way: Way, origin: string, agentId: string, key = '$TROUPE_KEY'): string {
  const body = JSON.stringify({ agentId, message: HELLO });
  switch (way) {
    case 'curl':
      return [
        `curl -s ${origin}/api/chat \\`,
        `  -H "authorization: Bearer ${key}" -H 'content-type: application/json' \\`,
        `  -d '${body}'`,
      ].join('\n');
    case 'javascript':
      return [
        `const key = 'sk_…';`,
        `const answer = await fetch('${origin}/api/chat', {`,
        `  method: 'POST',`,
        '  headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },',
        `  body: JSON.stringify({ agentId: '${agentId}', message: '${HELLO}' }),`,
        '});',
        'console.log((await answer.json()).reply);',
      ].join('\n');
    case 'terminal':
      return [`export TROUPE_URL=${origin} TROUPE_KEY=sk_…`, `troupe chat ${agentId} '${HELLO}'`].join('\n');
  }
}

/** How a device asks; the token is the agent's. */
export const pairingCall = (origin: string): string =>
  `curl -X POST ${origin}/api/devices/pair \\\n  -H "Authorization: Bearer $GATEWAY_TOKEN" \\\n  -H "Content-Type: application/json" \\\n  -d '{"name":"My phone"}'`;
