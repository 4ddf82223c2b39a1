import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createWorkerPool } from '@troupe/kernel';
import { createSandbox } from '../sandbox/sandbox.ts';
import { createWorkspace } from '../workspace/workspace.ts';
import { browserTools, type BrowserToolDeps } from './browser.ts';
import { call } from './testing.ts';
import { createHeld, type ToolResult } from './tool.ts';

/** A browser's tools over a workspace, and the pages of a site on this machine. */

type Site = Record<string, (request: http.IncomingMessage, response: http.ServerResponse) => void>;

export const html =
  (body: string): Site[string] =>
  (_, response) =>
    response.setHeader('content-type', 'text/html; charset=utf-8').end(`<!doctype html><title>T</title>${body}`);

export interface Stage {
  root: string;
  /** Where the site is, by a name that the agent may reach. */
  url: string;
  port: number;
  use: (name: string, args?: object, context?: object) => Promise<ToolResult>;
  /** The next calls are another run's. */
  nextRun: () => Promise<void>;
  close: () => Promise<void>;
}

export async function createStage(site: Site, more: Partial<BrowserToolDeps> = {}): Promise<Stage> {
  const server = http.createServer((request, response) => {
    const page = site[new URL(request.url ?? '/', 'http://x').pathname];
    if (page) page(request, response);
    else response.writeHead(404).end('not here');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const root = await mkdtemp(path.join(tmpdir(), 'agent-browser-'));
  const pool = createWorkerPool();
  const workspace = createWorkspace(root, { pool, owner: 'user' });
  const egress = { rules: { allowLoopback: true }, ports: [port] };
  const sandbox = createSandbox();
  const tools = browserTools(async () => workspace, { sandbox, pool, owner: 'user', egress, ...more });
  let held = createHeld();
  return {
    root,
    port,
    url: `http://localhost:${port}`,
    use: (name, args = {}, context = {}) => call(tools, name, args, { held, ...context }),
    async nextRun() {
      await held.drop();
      held = createHeld();
    },
    async close() {
      await held.drop();
      server.closeAllConnections();
      server.close();
      await pool.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** What stands before a word of the snapshot as a reference. */
export function refOf({ content }: ToolResult, line: RegExp): string {
  const found = content.split('\n').find((one) => line.test(one));
  const ref = /\[(e\d+)\]/.exec(found ?? '')?.[1];
  if (ref === undefined) throw new Error(`nothing on the page is like ${line}:\n${content}`);
  return ref;
}
