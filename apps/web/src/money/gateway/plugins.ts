import { AppError, createOutbound, type Log, type Settings, type User } from '@troupe/kernel';

/** What is sold, for how many millionths of a dollar, and who serves it. */

export interface Plugin {
  id: string;
  price: bigint;
  url: string | undefined;
}

/** Whom a plugin works for. */
interface Payer {
  user: User | null;
  address: string;
}

export interface BuiltIn {
  /** Throws an AppError for input that it cannot work with. */
  check: (input: Record<string, unknown>) => void;
  run: (input: Record<string, unknown>, signal: AbortSignal, payer: Payer) => Promise<unknown>;
}

export interface Plugins {
  ids: string[];
  offers: { slug: string; price: bigint }[];
  find: (id: string) => Plugin | null;
  /** Before anybody pays: 502 no_plugin when nobody serves it, 400 for input that it cannot work with. */
  check: (plugin: Plugin, input: Record<string, unknown>) => void;
  /** 502 plugin_failed. */
  call: (plugin: Plugin, input: Record<string, unknown>, payer: Payer) => Promise<unknown>;
  close: () => Promise<void>;
}

/** An agent has tools to use; a signed transfer lives for five minutes. */
export const PLUGIN_TIMEOUT_MS = 60_000;
const MAX_BYTES = 5_242_880;

interface PluginDeps {
  settings: Settings;
  log: Log;
  /** What the platform serves itself when no address is set. */
  builtIn: Readonly<Record<string, BuiltIn | undefined>>;
}

export function createPlugins({ settings, log, builtIn }: PluginDeps): Plugins {
  const table: Plugin[] = [
    { id: 'agent', price: 50_000n, url: settings.PLUGIN_AGENT_URL },
    { id: 'generate-text', price: 10_000n, url: settings.PLUGIN_GENERATE_TEXT_URL },
    { id: 'tts', price: 30_000n, url: settings.PLUGIN_TTS_URL },
    { id: 'stt', price: 20_000n, url: settings.PLUGIN_STT_URL },
  ];
  // The addresses are the operator's, private ones included.
  const outbound = createOutbound({ allowLoopback: true, allowPrivate: true, idleTimeout: PLUGIN_TIMEOUT_MS });

  async function remote(url: string, input: Record<string, unknown>, signal: AbortSignal): Promise<unknown> {
    const answer = await outbound.fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(input),
      redirects: 0,
      timeout: PLUGIN_TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      signal,
    });
    if (answer.status >= 300) {
      answer.cancel();
      throw new Error(`the plugin answered ${answer.status}`);
    }
    return answer.json();
  }

  /** Who serves it: an address comes before the platform itself. */
  function serverOf({ id, url }: Plugin): BuiltIn {
    if (url !== undefined) return { check: () => {}, run: (input, signal) => remote(url, input, signal) };
    const own = builtIn[id];
    if (own === undefined) throw new AppError(502, 'no_plugin', { plugin: id });
    return own;
  }

  return {
    ids: table.map(({ id }) => id),
    offers: table.map(({ id, price }) => ({ slug: id, price })),
    find: (id) => table.find((plugin) => plugin.id === id) ?? null,
    check: (plugin, input) => serverOf(plugin).check(input),
    async call(plugin, input, payer) {
      const { run } = serverOf(plugin);
      try {
        return await run(input, AbortSignal.timeout(PLUGIN_TIMEOUT_MS), payer);
      } catch (error) {
        log.warn({ err: error, plugin: plugin.id }, 'a plugin failed, its payment is returned');
        throw new AppError(502, 'plugin_failed', { plugin: plugin.id }, { cause: error });
      }
    },
    close: () => outbound.close(),
  };
}
