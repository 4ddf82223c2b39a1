import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { Demo } from './service.ts';

export function demoRoutes(server: Server, demo: Demo): void {
  serve(server, web.demo.get, () => demo.describe());
  serve(server, web.demo.chat, ({ body, request }) => demo.chat(body, request.signal()));
}
