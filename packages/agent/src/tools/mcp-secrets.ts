import type { McpServer } from '@troupe/domain';

/** Values of headers, of the environment and of a registration are secrets of the owner: where there is something to seal with, they lie sealed. */

export interface Vault {
  seal: (plain: string) => string;
  open: (sealed: string) => string;
}

const MARK = 'sealed:';
const ELSEWHERE = 'its secrets were sealed elsewhere: attach it again';

const each = (values: Readonly<Record<string, string>>, change: (value: string) => string): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));

function changed<T extends McpServer>(server: T, change: (value: string) => string): T {
  const { headers, env, client } = server;
  return {
    ...server,
    headers: each(headers, change),
    env: each(env, change),
    ...(client?.secret !== undefined && { client: { ...client, secret: change(client.secret) } }),
  };
}

export function sealServer<T extends McpServer>(server: T, vault: Vault | undefined): T {
  if (!vault) return server;
  const seal = (value: string): string => (value.startsWith(MARK) ? value : MARK + vault.seal(value));
  return changed(server, seal);
}

export function openServer<T extends McpServer>(server: T, vault: Vault | undefined): T {
  const open = (value: string): string => {
    if (!value.startsWith(MARK)) return value;
    try {
      if (vault) return vault.open(value.slice(MARK.length));
    } catch (cause) {
      throw new Error(ELSEWHERE, { cause });
    }
    throw new Error(ELSEWHERE);
  };
  return changed(server, open);
}
