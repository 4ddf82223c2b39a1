import {
  acceptSkill,
  deleteSkill,
  draftSkill,
  dropSkillReview,
  getSkill,
  getSkillFile,
  getSkillReview,
  getSkillReviewFile,
  giveSkill,
  listAgentSkills,
  listSkills,
  reviewSkill,
  reviewSkillArchive,
  takeSkill,
} from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { SkillsService } from './service.ts';

export function skillRoutes(server: Server, skills: SkillsService): void {
  serve(server, listSkills, ({ user }) => skills.list(user.id));
  serve(server, reviewSkill, ({ user, body }) => skills.review(user, body));
  serve(server, reviewSkillArchive, ({ user, query, request }) =>
    skills.reviewArchive(user, request.bytes, query.path),
  );
  serve(server, getSkillReview, ({ user, params }) => skills.getReview(user.id, params.id));
  serve(server, getSkillReviewFile, ({ user, params, query }) =>
    skills.reviewFile(user.id, params.id, query.path, query.side),
  );
  serve(server, acceptSkill, ({ user, params, body }) => skills.accept(user.id, params.id, body.digest));
  serve(server, dropSkillReview, ({ user, params }) => skills.drop(user.id, params.id));
  serve(server, getSkill, ({ user, params }) => skills.get(user.id, params.id));
  serve(server, getSkillFile, ({ user, params, query }) => skills.file(user.id, params.id, query.path));
  serve(server, deleteSkill, ({ user, params }) => skills.remove(user.id, params.id));
  serve(server, listAgentSkills, ({ user, params }) => skills.ofAgent(user, params.id));
  serve(server, giveSkill, ({ user, params, body, request }) =>
    skills.give(user, params.id, params.skillId, body.digest, request.address),
  );
  serve(server, draftSkill, ({ user, params, query, request }) =>
    skills.draft(user, params.id, params.sessionId, query.run, request.address),
  );
  serve(server, takeSkill, ({ user, params, request }) =>
    skills.take(user, params.id, params.skillId, request.address),
  );
}
