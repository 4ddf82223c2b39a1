import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a service talks to, and somebody who looks on. */

async function listening(server: Server): Promise<{ url: string; close: () => void }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): void => server.close().closeAllConnections();
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

/** `silent`: takes the question and never answers; `liar`: says that it is another chain. */
export type RpcMode = 'up' | 'down' | 'silent' | 'liar';

export interface RpcTap {
  url: string;
  mode: RpcMode;
  /** Called with what is asked of the chain: before it is passed on, and before the answer goes back. */
  onCall: (method: string, when: 'before' | 'after') => Promise<void> | void;
  close: () => void;
}

/** Passes JSON-RPC on to a node. */
export async function tapRpc(rpcUrl: string): Promise<RpcTap> {
  const tap: RpcTap = { url: '', mode: 'up', onCall: () => {}, close: () => {} };
  const server = createServer((request, response) => {
    void (async () => {
      if (tap.mode === 'down') return void request.socket.destroy();
      let text = '';
      for await (const part of request) text += String(part);
      if (tap.mode === 'silent') return;
      const asked = (JSON.parse(`[${text}]`) as ({ method: string } | { method: string }[])[]).flat();
      for (const { method } of asked) await tap.onCall(method, 'before');
      if (response.destroyed) return;
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(rpcUrl, { method: 'POST', body: text, headers });
      let body = await answer.text();
      if (tap.mode === 'liar') body = elsewhere(body, text);
      for (const { method } of asked) await tap.onCall(method, 'after');
      response.setHeader('content-type', 'application/json').end(body);
    })();
  });
  return Object.assign(tap, await listening(server));
}

/** The same answers, with another chain's id. */
function elsewhere(body: string, text: string): string {
  type Message = { id: unknown; method?: string; result?: unknown };
  const list = (json: string) => (JSON.parse(`[${json}]`) as (Message | Message[])[]).flat();
  const ids = new Set(list(text).flatMap(({ id, method }) => (method === 'eth_chainId' ? [id] : [])));
  const answers = list(body).map((answer) => (ids.has(answer.id) ? { ...answer, result: '0x1' } : answer));
  return JSON.stringify(body.trimStart().startsWith('[') ? answers : answers[0]);
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
