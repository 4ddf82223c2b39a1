import { runAddress } from './pages/agents/runs/run-name.ts';

/** Addresses that are said, written down and guessed, and where each of them leads; what stands behind `?` goes along. */
export interface Led {
  to: string;
  /** Undefined: what the address had of this name is left out, it stands elsewhere now. */
  search?: Record<string, string | undefined>;
}

type Params = Record<string, string>;
type Lead = (params: Params, search: Record<string, unknown>) => Led;

const onAgent =
  (tab: string, more: (params: Params) => Record<string, string> = () => ({})) =>
  (params: Params): Led => ({ to: `/dashboard/agents/${params['id']}`, search: { tab, ...more(params) } });

const tabs = (page: string, names: Record<string, string>) =>
  Object.entries(names).map(([name, tab]): [string, () => Led] => [
    `${page}/${name}`,
    () => ({ to: page, search: { tab } }),
  ]);

const ADMIN = { people: 'users', joining: 'invites', providers: 'providers', platform: 'health' };
const SETTINGS = ['profile', 'security', 'keys', 'notifications', 'referrals', 'account', 'audit'];

/** A file is shown beside the others of its folder. */
export const fileOf = (path: string): Record<string, string> => {
  const folder = path.split('/').slice(0, -1).join('/');
  return { ...(folder !== '' && { folder }), ...(path !== '' && { file: path }) };
};

/** Where a run was, below its agent, with its first step behind `?`. */
const toRun: Lead = ({ id = '', session = '' }, { run }) => ({
  to: runAddress({ agentId: id, sessionId: session, first: Number(run) || 1 }),
  search: { run: undefined },
});

export const ADDRESSES: [path: string, lead: Lead][] = [
  ['/dashboard/inbox/$item', ({ item = '' }) => ({ to: '/dashboard/inbox', search: { item } })],
  ['/dashboard/agents/$id/talk', onAgent('chat')],
  ['/dashboard/agents/$id/talk/$conversation', onAgent('chat', ({ conversation = '' }) => ({ c: conversation }))],
  ['/dashboard/agents/$id/runs/$session', toRun],
  ['/dashboard/agents/$id/files', onAgent('files')],
  ['/dashboard/agents/$id/files/$', onAgent('files', ({ _splat = '' }) => fileOf(_splat))],
  ...['work', 'memory', 'connections', 'settings'].flatMap((tab): [string, Lead][] => [
    [`/dashboard/agents/$id/${tab}`, onAgent(tab)],
    [`/dashboard/agents/$id/${tab}/$part`, onAgent(tab, ({ part = '' }) => ({ part }))],
  ]),
  ...['cost', 'billing', 'wallet', 'gateway', 'policy'].map((page): [string, () => Led] => [
    `/dashboard/money/${page}`,
    () => ({ to: `/dashboard/${page}` }),
  ]),
  ...tabs('/dashboard/admin', ADMIN),
  ['/dashboard/admin/cost', () => ({ to: '/dashboard/cost', search: { of: 'all' } })],
  ['/dashboard/admin/audit', () => ({ to: '/dashboard/settings', search: { tab: 'audit' } })],
  ...tabs('/dashboard/settings', Object.fromEntries(SETTINGS.map((tab) => [tab, tab]))),
  ['/dashboard/settings/defaults', () => ({ to: '/dashboard/config' })],
  ['/dashboard/settings/computers', () => ({ to: '/dashboard/installations' })],
];

/** What an address names: by `$name` one part of it, by `$` at its end all that is left. */
function paramsOf(pattern: string, path: string): Params | undefined {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  const isOpen = wanted.at(-1) === '$';
  if (isOpen ? given.length < wanted.length : given.length !== wanted.length) return undefined;
  const params: Params = {};
  for (const [place, part] of wanted.entries()) {
    if (part === '$') params['_splat'] = given.slice(place).join('/');
    else if (part.startsWith('$')) params[part.slice(1)] = given[place]!;
    else if (part !== given[place]) return undefined;
  }
  return params;
}

/** What somebody typed need not be an encoding of anything. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Where an address leads; undefined: nowhere. */
export function ledBy(pathname: string, search: Record<string, unknown> = {}): Led | undefined {
  const path = decoded(pathname).replace(/\/+$/, '');
  for (const [pattern, lead] of ADDRESSES) {
    const params = paramsOf(pattern, path);
    if (params) return lead(params, search);
  }
  return undefined;
}
