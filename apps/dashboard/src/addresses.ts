/** Addresses that are said, written down and guessed, and where each of them leads; what stands behind `?` goes along. */
export interface Led {
  to: string;
  search?: Record<string, string>;
}

type Params = Record<string, string>;

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
const fileOf = ({ _splat: path = '' }: Params): Record<string, string> => {
  const folder = path.split('/').slice(0, -1).join('/');
  return { ...(folder !== '' && { folder }), ...(path !== '' && { file: path }) };
};

export const ADDRESSES: [path: string, lead: (params: Params) => Led][] = [
  ['/dashboard/stage', () => ({ to: '/dashboard' })],
  ['/dashboard/inbox/$item', ({ item = '' }) => ({ to: '/dashboard/inbox', search: { item } })],
  ['/dashboard/agents/$id/talk', onAgent('chat')],
  ['/dashboard/agents/$id/talk/$conversation', onAgent('chat', ({ conversation = '' }) => ({ c: conversation }))],
  ['/dashboard/agents/$id/files', onAgent('files')],
  ['/dashboard/agents/$id/files/$', onAgent('files', fileOf)],
  ...['work', 'memory', 'connections', 'settings'].flatMap((tab): [string, (params: Params) => Led][] => [
    [`/dashboard/agents/$id/${tab}`, onAgent(tab)],
    [`/dashboard/agents/$id/${tab}/$part`, onAgent(tab, ({ part = '' }) => ({ part }))],
  ]),
  ['/dashboard/library', () => ({ to: '/dashboard/knowledge' })],
  ['/dashboard/money', () => ({ to: '/dashboard/cost' })],
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
