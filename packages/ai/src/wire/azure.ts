import type { Wire } from '../provider.ts';
import { openaiWire } from './openai.ts';

/** Azure's OpenAI: the same format under another header. Models go by the names that their deployments were given. */
export const azureWire: Wire = {
  ...openaiWire,
  headers: (apiKey) => ({ 'api-key': apiKey ?? '' }),
  // What it is called here says nothing about what it takes.
  body: (_name, model, request, stream) => openaiWire.body('azure', model, request, stream),
};

/** Of a resource, the address of its API. */
export function azureAddress(given: string): string {
  const url = new URL(given);
  return url.pathname === '/' ? new URL('/openai/v1', url).href : given;
}
