import {
  cancelConversation,
  decideApproval,
  forgetMemory,
  getConversation,
  listConversations,
  say,
} from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { ConversationsService } from './service.ts';

export function conversationRoutes(server: Server, conversations: ConversationsService): void {
  serve(server, listConversations, ({ user, params, query, request }) =>
    conversations.list(user, params.id, query, request.address),
  );
  serve(server, getConversation, ({ user, params, query, request }) =>
    conversations.read(user, params.id, params.sessionId, query, request.address),
  );
  serve(server, say, ({ user, params, body, request }) => conversations.say(user, params.id, body, request.address));
  serve(server, cancelConversation, ({ user, params, request }) =>
    conversations.cancel(user, params.id, params.sessionId, request.address),
  );
  serve(server, decideApproval, ({ user, params, body, request }) =>
    conversations.decide(user, params.id, params.approvalId, body.approved, request.address),
  );
  serve(server, forgetMemory, ({ user, body, request }) =>
    conversations.forget(user, body.agentId, body.key, request.address),
  );
}
