import type { McpTool } from './tool.ts';

interface Message {
  method?: unknown;
  params?: { name?: unknown } | null;
}

/** The scopes that a body needs beyond being let in: those of the tools that it calls. */
export function scopesOf(body: unknown, tools: readonly Pick<McpTool<never>, 'name' | 'scope'>[]): string[] {
  const messages = (Array.isArray(body) ? body : [body]) as (Message | null)[];
  const called = messages.flatMap((message) => {
    if (typeof message !== 'object' || message?.method !== 'tools/call') return [];
    return tools.find(({ name }) => name === message.params?.name)?.scope ?? [];
  });
  return [...new Set(called)];
}

/** Whether the body opens a stream that only waits. */
export const isListening = (body: unknown): boolean =>
  typeof body === 'object' && (body as Message | null)?.method === 'subscriptions/listen';
