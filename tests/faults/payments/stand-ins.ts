import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a service talks to, and somebody who looks on. */

async function listening(server: Server): Promise<{ url: string; close: () => void }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): void => server.close().closeAllConnections();
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

export interface RpcTap {
  url: string;
  /** Called with what is asked of the chain: before it is passed on, and before the answer goes back. */
  onCall: (method: string, when: 'before' | 'after') => Promise<void> | void;
  close: () => void;
}

/** Passes JSON-RPC on to a node. */
export async function tapRpc(rpcUrl: string): Promise<RpcTap> {
  const tap: RpcTap = { url: '', onCall: () => {}, close: () => {} };
  const server = createServer((request, response) => {
    void (async () => {
      let text = '';
      for await (const part of request) text += String(part);
      const asked = (JSON.parse(`[${text}]`) as ({ method: string } | { method: string }[])[]).flat();
      for (const { method } of asked) await tap.onCall(method, 'before');
      if (response.destroyed) return;
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(rpcUrl, { method: 'POST', body: text, headers });
      const body = await answer.text();
      for (const { method } of asked) await tap.onCall(method, 'after');
      response.setHeader('content-type', 'application/json').end(body);
    })();
  });
  return Object.assign(tap, await listening(server));
}

export interface PluginStandIn {
  url: string;
  calls: number;
  /** Called before the plugin answers. */
  onCall: () => Promise<void> | void;
  close: () => void;
}

export async function startPlugin(): Promise<PluginStandIn> {
  const plugin: PluginStandIn = { url: '', calls: 0, onCall: () => {}, close: () => {} };
  const server = createServer((request, response) => {
    request.resume();
    void (async () => {
      plugin.calls += 1;
      await plugin.onCall();
      response.setHeader('content-type', 'application/json').end('{}');
    })();
  });
  return Object.assign(plugin, await listening(server));
}
