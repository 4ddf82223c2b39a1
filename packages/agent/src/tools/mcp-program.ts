import path from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { domainAllowed } from '@troupe/domain';
import type { Log } from '@troupe/kernel';
import { createEgressProxy, type EgressOptions } from '../sandbox/egress-proxy.ts';
import { watchResources } from '../sandbox/resource-watch.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { createStdioTransport } from '../sandbox/stdio-transport.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { bounded } from './mcp-bounds.ts';
import type { Link } from './mcp-http.ts';
import { isPackageRunner, type Installed, type Programs } from './mcp-programs.ts';
import type { UsedServer } from './mcp-shared.ts';

/** MCP servers that are programs: they run in the sandbox, and reach the domains that the agent may reach. */

export interface ProgramDeps {
  sandbox: Sandbox;
  workspace: () => Promise<Workspace>;
  egress?: Omit<EgressOptions, 'allowedDomains'> | undefined;
  log: Log;
  /** Programs that are npm packages; left out: they cannot be had. */
  programs?: Programs | undefined;
}

const START_MS = 20_000;
/** One that is downloaded first takes its time. */
const FETCH_MS = 120_000;
const PROBE_MS = 5_000;

/** Runners that download what they run, and from where. */
const FETCHERS: Readonly<Record<string, readonly string[]>> = {
  uvx: ['pypi.org', 'files.pythonhosted.org'],
  pipx: ['pypi.org', 'files.pythonhosted.org'],
};

/** Whence the program is downloaded; undefined: it is not. */
const sourcesOf = ({ command = '' }: UsedServer): readonly string[] | undefined =>
  FETCHERS[path.posix.basename(command)];

/** Why the program cannot start here, as far as that can be told before it is tried. */
export function programProblem(server: UsedServer, allowedDomains: readonly string[]): string | undefined {
  const closed = (sourcesOf(server) ?? []).filter((domain) => !domainAllowed(domain, allowedDomains));
  if (closed.length === 0) return undefined;
  return `${server.command} downloads the program from ${closed.join(' and ')}, which this agent may not reach: allow that domain in its configuration (safety.allowedDomains), or put the program into its workspace`;
}

export async function connectProgram(
  deps: ProgramDeps,
  server: UsedServer,
  {
    makeClient,
    allowedDomains,
    signal,
  }: {
    makeClient: (mode: 'auto' | 'legacy', probeMs?: number) => Client;
    allowedDomains: readonly string[];
    signal: AbortSignal;
  },
): Promise<{ client: Client; link: Link }> {
  const reason = await deps.sandbox.unavailable();
  if (reason !== undefined) throw new Error(`there is no sandbox to run the program in (${reason})`);
  const problem = programProblem(server, allowedDomains);
  if (problem !== undefined) throw new Error(problem);
  const timeout = sourcesOf(server) ? FETCH_MS : START_MS;
  const installed = isPackageRunner(server) ? await installedFor(deps, server, signal) : undefined;
  const first = makeClient('auto', PROBE_MS);
  try {
    return {
      client: first,
      link: await start(deps, server, { client: first, installed, allowedDomains, signal, timeout }),
    };
  } catch (error) {
    // Some of the older ones end at the first word that they do not know, or never answer it; others only start slowly.
    const isOver = error instanceof EndedEarly && error.code !== NOT_FOUND;
    if (signal.aborted || !(isOver || isUnanswered(error))) throw error;
    const second = makeClient('legacy');
    return {
      client: second,
      link: await start(deps, server, { client: second, installed, allowedDomains, signal, timeout }),
    };
  }
}

function installedFor({ programs }: ProgramDeps, server: UsedServer, signal: AbortSignal): Promise<Installed> {
  if (!programs) throw new Error('programs are not installed from npm here: put the program into the workspace');
  return programs.ready(server, signal);
}

const NOT_FOUND = 127;

/** The first word, which asks for the revision: the library takes that for an older program only with a link of its own. */
const isUnanswered = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === 'REQUEST_TIMEOUT';

/** The program was over before it was ready. */
class EndedEarly extends Error {
  override readonly name = 'EndedEarly';
  readonly code: number | null;

  constructor(code: number | null, said: string, cause: unknown) {
    super(`the program ended${code === null ? '' : ` with code ${code}`}${said === '' ? '' : `: ${said}`}`, { cause });
    this.code = code;
  }
}

const SAID_CHARACTERS = 500;
const TOO_MANY =
  'too many programs of your MCP servers run already; those of an agent end when nobody has talked to it for a while';

async function start(
  { sandbox, workspace, egress, log }: ProgramDeps,
  server: UsedServer,
  given: {
    client: Client;
    installed: Installed | undefined;
    allowedDomains: readonly string[];
    signal: AbortSignal;
    timeout: number;
  },
): Promise<Link> {
  const { client, installed, allowedDomains, signal, timeout } = given;
  const { parseJSONRPCMessage } = await import('@modelcontextprotocol/client');
  const files = await workspace();
  await files.ready();
  const give = sandbox.seats.program.take(files.owner);
  if (!give) throw new Error(TOO_MANY);
  const proxy = allowedDomains.length > 0 ? await createEgressProxy({ ...egress, allowedDomains }) : undefined;
  try {
    const wrapped = await sandbox.wrap({
      workspace: files.root,
      argv: installed?.argv ?? [server.command ?? '', ...server.args],
      env: server.env,
      ...(installed && { program: installed.folder }),
      ...(proxy && { egressSocket: proxy.socketPath }),
    });
    const leave = (pid: number | undefined): void => {
      give();
      wrapped.release(pid);
    };
    const program = { ...wrapped, release: leave };
    const transport = bounded(createStdioTransport(program, parseJSONRPCMessage), (count) =>
      log.warn({ server: server.name, count }, 'MCP tools left out: their schemas are too large'),
    );
    await client.connect(transport, { timeout, signal }).catch(async (error: unknown) => {
      await transport.close();
      const ended = transport.ended();
      throw ended ? new EndedEarly(ended.code, ended.said.trim().slice(-SAID_CHARACTERS), error) : error;
    });
    const unwatch = watchResources({
      ...program.watched,
      pid: transport.pid(),
      full: async () => (await files.room()).full,
      onExceeded: () => void transport.close(),
    });
    return {
      release: () => {
        unwatch();
        void proxy?.close();
      },
    };
  } catch (error) {
    give();
    await proxy?.close();
    throw error;
  }
}
