import { web } from '@troupe/contract';
import { eventStream, serve, type Server } from '@troupe/kernel';
import type { ChatService } from './service.ts';

export function chatRoutes(server: Server, chat: ChatService): void {
  serve(server, web.chat.send, async ({ user, body, request }) => {
    const streamed = request.headers.accept?.includes('text/event-stream') ?? false;
    if (streamed) return eventStream(await chat.stream(user, body, request.address, request.signal()));
    return chat.send(user, body, request.address, request.signal());
  });
  serve(server, web.chat.get, ({ user, query, request }) =>
    chat.history(user, query.agentId, query.limit, request.address),
  );
}
