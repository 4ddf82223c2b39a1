import { AppError, type Log } from '@troupe/kernel';

/** How a browser comes back from where its owner agreed, for one agent's server or for one of all agents. */

export const CALLBACK = '/api/mcp/callback';
export const CLIENT_DOCUMENT = '/oauth/client.json';
/** In place of an agent's id, which it cannot be. */
export const OF_ALL = '~';

export interface Came {
  code?: string;
  state?: string;
  iss?: string;
  error?: string;
}

/** Whose answer it is, and the page that says what came of it. */
export function placeOf({ state = '' }: Came) {
  const [agentId = '', name = ''] = state.split('.');
  const page = (result: Record<string, string>): string =>
    agentId === OF_ALL
      ? `/dashboard/mcp-servers?${new URLSearchParams(result).toString()}`
      : `/dashboard/agents/${encodeURIComponent(agentId)}?${new URLSearchParams({ tab: 'connections', ...result }).toString()}`;
  return { agentId, name, page };
}

type Take = (name: string, answer: { code: string; state: string; iss?: string }) => Promise<void>;

/** Where the browser goes next, whatever it came back with. */
export async function comeBack(log: Log, came: Came, take: Take): Promise<string> {
  const { agentId, name, page } = placeOf(came);
  if (agentId === '' || name === '') return '/dashboard/agents';
  const { code, state = '', iss, error } = came;
  if (code === undefined || error !== undefined) return page({ refused: name });
  try {
    await take(name, { code, state, ...(iss !== undefined && { iss }) });
    return page({ connected: name });
  } catch (err) {
    if (!(err instanceof AppError)) throw err;
    log.info({ err, agentId }, 'an MCP server could not be connected');
    return page({ failed: name });
  }
}
