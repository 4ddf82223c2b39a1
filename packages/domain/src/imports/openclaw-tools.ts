import type { Note } from '../teams/sift.ts';
import { isThere, objectOf, short, textOf, textsOf, type Given } from './parts.ts';

/** OpenClaw's lists of tools as toolsets of ours. What allows is read narrowly, what denies widely. */

const TOOLSETS = ['filesystem', 'shell', 'memory', 'fetch', 'todo', 'think'] as const;
type Toolset = (typeof TOOLSETS)[number];

const LOOKING = ['read_file', 'list_directory', 'directory_tree', 'search_files', 'search_files_content'];
/** Names of tools and groups, and the toolset that they mean; `read` alone only looks. */
const MEANS: Readonly<Record<string, Toolset>> = {
  read: 'filesystem',
  write: 'filesystem',
  edit: 'filesystem',
  apply_patch: 'filesystem',
  'group:fs': 'filesystem',
  exec: 'shell',
  bash: 'shell',
  process: 'shell',
  'group:runtime': 'shell',
  web_fetch: 'fetch',
  web_search: 'fetch',
  'group:web': 'fetch',
  memory_search: 'memory',
  memory_get: 'memory',
  'group:memory': 'memory',
};
const WRITING = new Set(['write', 'edit', 'apply_patch', 'group:fs', '*']);
const PROFILES: Readonly<Record<string, readonly Toolset[]>> = {
  minimal: [],
  messaging: [],
  coding: ['filesystem', 'shell', 'memory', 'fetch'],
  full: ['filesystem', 'shell', 'memory', 'fetch'],
};
const READ = new Set(['allow', 'alsoAllow', 'deny', 'profile', 'exec']);
const ALWAYS: ReadonlySet<Toolset> = new Set<Toolset>(['think', 'todo']);

const meantBy = (name: string): Toolset | undefined => (Object.hasOwn(MEANS, name) ? MEANS[name] : undefined);

interface Rights {
  may: Set<Toolset>;
  onlyLooks: boolean;
  ask: string[];
}

export function toolsOf(given: readonly Given[], at: string, notCarried: Note[]) {
  const rights: Rights = { may: new Set(TOOLSETS), onlyLooks: false, ask: [] };
  for (const one of given) narrow(one, at, rights, notCarried);
  const toolsets = TOOLSETS.filter((one) => rights.may.has(one)).map((type) =>
    type === 'filesystem' && rights.onlyLooks ? { type, tools: LOOKING } : { type },
  );
  return { toolsets, ask: rights.ask };
}

/** Each list can only take away. */
function narrow(given: Given, at: string, rights: Rights, notCarried: Note[]): void {
  const { profile, exec } = given;
  const allow = textsOf(given['allow']);
  const deny = textsOf(given['deny']);
  const keep = (wanted: (one: Toolset) => boolean): void => {
    for (const one of rights.may) if (!ALWAYS.has(one) && !wanted(one)) rights.may.delete(one);
  };
  if (textOf(profile) !== '') {
    const base = Object.hasOwn(PROFILES, textOf(profile)) ? (PROFILES[textOf(profile)] ?? []) : [];
    const all = new Set([...base, ...textsOf(given['alsoAllow']).flatMap((one) => meantBy(one) ?? [])]);
    keep((one) => all.has(one));
  }
  if (Array.isArray(given['allow']) && !allow.includes('*')) {
    keep((one) => allow.some((name) => meantBy(name) === one));
    if (!allow.some((name) => WRITING.has(name))) rights.onlyLooks = true;
  }
  for (const name of deny) {
    const means = name === '*' ? undefined : meantBy(name);
    if (name === '*') keep(() => false);
    else if (means === 'filesystem' && name !== 'read') rights.onlyLooks = true;
    else if (means) rights.may.delete(means);
    if (name.includes('*') && name !== '*') keep(() => false);
  }
  const { security, ask } = objectOf(exec);
  if (security === 'deny') rights.may.delete('shell');
  else if (security === 'allowlist' || (isThere(ask) && ask !== 'off')) rights.ask.push('shell');
  for (const [key, value] of Object.entries(given))
    if (!READ.has(key) && isThere(value))
      notCarried.push({ at: `${at}.tools.${short(key, 60)}`, says: 'tools here are chosen by toolset' });
}
