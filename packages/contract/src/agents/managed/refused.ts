/** What clients of Anthropic's API look for and do not find here, by the name in its address, and what there is instead. */
const REFUSED: Readonly<Record<string, string>> = {
  dreams: 'an agent keeps its memory in order by itself',
  tunnels: 'servers of your own network are opened by who runs the platform, with AGENT_PRIVATE_HOSTS',
  user_profiles: 'give each of your users an agent, or a widget’s visitors a conversation each',
  organizations: 'people, keys and costs are looked after in the dashboard',
  work: 'agents of your own machines are installed there: POST /api/installations',
  batches: 'send the messages one by one',
};

/** Below an environment, and below messages. */
const INNER = new Set(['work', 'batches']);

/** Why nothing is at an address, where there is a reason; undefined: it is not known at all. */
export function refusedPath(url: string): string | undefined {
  const [root, version, first = '', second = '', third = ''] = url.split('?', 1)[0]!.split('/', 5);
  if (root !== '' || version !== 'v1') return undefined;
  const inner = first === 'messages' ? second : first === 'environments' ? third : '';
  const name = INNER.has(inner) ? inner : INNER.has(first) ? '' : first;
  return Object.hasOwn(REFUSED, name) ? `${name} are not there: ${REFUSED[name]!}` : undefined;
}
