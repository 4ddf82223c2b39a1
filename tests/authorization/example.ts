import type { OwnerIds } from './world.ts';

export interface Example {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  headers?: Record<string, string>;
}

export type Make = (id: OwnerIds) => Example | Example[];
