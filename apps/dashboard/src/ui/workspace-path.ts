/** What an address in a text leads to: the web, a file of the workspace, or nothing that can be opened. */
export type Leads = { to: 'web'; host: string } | { to: 'file'; path: string } | { to: 'nowhere' };

export function leadsTo(target: string): Leads {
  if (/^https?:\/\//.test(target)) return { to: 'web', host: hostOf(target) };
  const [bare = ''] = target.split(/[?#]/, 1);
  const parts = decoded(bare)
    .split('/')
    .filter((part) => part !== '' && part !== '.');
  return parts.length === 0 || parts.includes('..') ? { to: 'nowhere' } : { to: 'file', path: parts.join('/') };
}

/** As the browser understands it: a name that only looks like another is not said as that. */
function hostOf(target: string): string {
  try {
    return new URL(target).host;
  } catch {
    // No address after all: it leads nowhere when it is opened.
    return target;
  }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // A percent sign of its own.
    return path;
  }
}
