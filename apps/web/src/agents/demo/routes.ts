import { demoChat, getDemo } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { Demo } from './service.ts';

export function demoRoutes(server: Server, demo: Demo): void {
  serve(server, getDemo, () => demo.describe());
  serve(server, demoChat, ({ body, request }) => demo.chat(body, request.signal()));
}
