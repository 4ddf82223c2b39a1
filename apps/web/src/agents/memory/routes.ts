import { getMemory, putMemory } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { MemoryService } from './service.ts';

export function memoryRoutes(server: Server, memory: MemoryService): void {
  serve(server, getMemory, ({ user, query, request }) => memory.read(user, query, request.address));
  serve(server, putMemory, ({ user, body, request }) => memory.write(user, body, request.address));
}
