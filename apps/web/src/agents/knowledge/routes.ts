import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { KnowledgeService } from './service.ts';

export function knowledgeRoutes(server: Server, knowledge: KnowledgeService): void {
  serve(server, web.knowledge.list, ({ user }) => knowledge.list(user.id));
  serve(server, web.knowledge.create, ({ user, body }) => knowledge.create(user.id, body));
  serve(server, web.knowledge.search, ({ user, query, request }) => knowledge.search(user, query, request.address));
  serve(server, web.knowledge.change, ({ user, params, body }) => knowledge.change(user.id, params.id, body));
  serve(server, web.knowledge.remove, ({ user, params }) => knowledge.remove(user.id, params.id));
  serve(server, web.knowledge.listDocuments, ({ user, params, query }) =>
    knowledge.listDocuments(user.id, params.id, query),
  );
  serve(server, web.knowledge.upload, ({ user, params, query, request }) =>
    knowledge.upload(user.id, params.id, query.name, request.bytes),
  );
  serve(server, web.knowledge.add, ({ user, params, body }) => knowledge.add(user.id, params.id, body));
  serve(server, web.knowledge.getDocument, ({ user, params }) => knowledge.getDocument(user.id, params.id));
  serve(server, web.knowledge.changeDocument, ({ user, params, body }) =>
    knowledge.changeDocument(user.id, params.id, body.everyHours),
  );
  serve(server, web.knowledge.readAgain, ({ user, params }) => knowledge.readAgain(user.id, params.id));
  serve(server, web.knowledge.removeDocument, ({ user, params }) => knowledge.removeDocument(user.id, params.id));
  serve(server, web.knowledge.getPassage, ({ user, params, query }) =>
    knowledge.getPassage(user.id, params.id, Number(params.index), query.around),
  );
  serve(server, web.knowledge.listOfAgent, ({ user, params }) => knowledge.ofAgent(user, params.id));
  serve(server, web.knowledge.give, ({ user, params, query, request }) =>
    knowledge.give(user, params, query.force, request.address),
  );
  serve(server, web.knowledge.take, ({ user, params, query, request }) =>
    knowledge.take(user, params, query.force, request.address),
  );
}
