import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { SkillsService } from './service.ts';

export function skillRoutes(server: Server, skills: SkillsService): void {
  serve(server, web.skills.list, ({ user }) => skills.list(user.id));
  serve(server, web.skills.review, ({ user, body }) => skills.review(user, body));
  serve(server, web.skills.reviewArchive, ({ user, query, request }) =>
    skills.reviewArchive(user, request.bytes, query.path),
  );
  serve(server, web.skills.getReview, ({ user, params }) => skills.getReview(user.id, params.id));
  serve(server, web.skills.getReviewFile, ({ user, params, query }) =>
    skills.reviewFile(user.id, params.id, query.path, query.side),
  );
  serve(server, web.skills.accept, ({ user, params, body }) => skills.accept(user.id, params.id, body.digest));
  serve(server, web.skills.dropReview, ({ user, params }) => skills.drop(user.id, params.id));
  serve(server, web.skills.get, ({ user, params }) => skills.get(user.id, params.id));
  serve(server, web.skills.getFile, ({ user, params, query }) => skills.file(user.id, params.id, query.path));
  serve(server, web.skills.remove, ({ user, params }) => skills.remove(user.id, params.id));
  serve(server, web.skills.listOfAgent, ({ user, params }) => skills.ofAgent(user, params.id));
  serve(server, web.skills.give, ({ user, params, query, body, request }) =>
    skills.give(user, params, { digest: body.digest, force: query.force }, request.address),
  );
  serve(server, web.skills.draft, ({ user, params, body, request }) => skills.draft(user, params, body, request));
  serve(server, web.skills.take, ({ user, params, query, request }) =>
    skills.take(user, params, query.force, request.address),
  );
}
