import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { KeepingService } from './keeping.ts';
import type { ConversationsService } from './service.ts';

export function conversationRoutes(server: Server, conversations: ConversationsService): void {
  serve(server, web.conversations.list, ({ user, params, query, request }) =>
    conversations.list(user, params.id, query, request.address),
  );
  serve(server, web.conversations.get, ({ user, params, query, request }) =>
    conversations.read(user, params.id, params.sessionId, query, request.address),
  );
  serve(server, web.conversations.say, ({ user, params, body, request }) =>
    conversations.say(user, params.id, body, request.address),
  );
  serve(server, web.conversations.cancel, ({ user, params, request }) =>
    conversations.cancel(user, params.id, params.sessionId, request.address),
  );
  serve(server, web.conversations.decide, ({ user, params, body, request }) =>
    conversations.decide(user, params.id, params.approvalId, body, request.address),
  );
  serve(server, web.conversations.getRules, ({ user, params, request }) =>
    conversations.rules(user, params.id, params.approvalId, request.address),
  );
  serve(server, web.memory.forget, ({ user, body, request }) =>
    conversations.forget(user, body.agentId, body.key, request.address),
  );
}

export function keepingRoutes(server: Server, keeping: KeepingService): void {
  serve(server, web.conversations.change, ({ user, params: { id, sessionId }, body, request }) =>
    keeping.change(user, id, sessionId, body, request.address),
  );
  serve(server, web.conversations.remove, ({ user, params: { id, sessionId }, request }) =>
    keeping.remove(user, id, sessionId, request.address),
  );
  serve(server, web.conversations.listBranches, ({ user, params: { id, sessionId }, request }) =>
    keeping.branches(user, id, sessionId, request.address),
  );
  serve(server, web.conversations.branch, ({ user, params: { id, sessionId }, body, request }) =>
    keeping.branch(user, id, sessionId, body, request.address),
  );
  serve(server, web.conversations.search, ({ user, params, query, request }) =>
    keeping.search(user, params.id, query.q, request.address),
  );
  serve(server, web.conversations.listFiles, ({ user, params: { id, sessionId }, request }) =>
    keeping.files(user, id, sessionId, request.address),
  );
  serve(server, web.conversations.download, ({ user, params: { id, sessionId }, query, request }) =>
    keeping.export(user, id, sessionId, query.format, request.address),
  );
}
