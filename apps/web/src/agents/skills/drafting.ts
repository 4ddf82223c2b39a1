import type { TypesOf, web } from '@troupe/contract';
import type { Catalogue } from '@troupe/domain';
import { AppError, type BackendClient, type User } from '@troupe/kernel';
import type { Roster } from '@troupe/roster';
import { reach } from '../../platform/reach.ts';
import { askModel } from '../ask-model.ts';
import { modelsOf } from '../models/service.ts';
import { stepsOfRun } from '../run-steps.ts';
import { draftOf } from './draft.ts';
import { draftBy, HOW } from './draft-by-model.ts';

type Asked = TypesOf<typeof web.skills.draft>;

const NO_DRAFT = 'The model’s answer is no skill that can be used. Try again, or have it written by rules.';

/** A run as a draft of a skill: by a model, or by rules where there is none or none is wanted. */
export function drafting({
  roster,
  backend,
  catalogue,
}: {
  roster: Roster;
  backend: BackendClient;
  catalogue: Catalogue;
}) {
  return {
    async draft(
      user: User,
      { id: agentId, sessionId }: Asked['params'],
      { run, by = 'model' }: Asked['body'],
      asked: { address: string; signal: () => AbortSignal },
    ) {
      await roster.of(user.id).get(agentId);
      const ruled = draftOf(await stepsOfRun(backend, user, { agentId, sessionId, run }, asked.address));
      const as = backend.as(user, asked.address);
      const offered = by === 'rules' ? undefined : await reach(modelsOf(as, catalogue, user.plan));
      // What is shown to a model was cleaned of secrets before, and is bounded.
      const draft =
        !offered || offered.sandboxOnly
          ? ruled
          : draftBy(await askModel(as, { model: offered.default, how: HOW, data: ruled.body }, asked.signal()));
      if (!draft) throw new AppError(502, NO_DRAFT, { code: 'NO_DRAFT' });
      const { name, description, body } = draft;
      const { writeSkillMd } = await import('@troupe/domain/skill-md');
      return {
        name,
        content: writeSkillMd({ name, description, metadata: {}, allowedTools: [] }, body),
        by: draft === ruled ? ('rules' as const) : ('model' as const),
        isSandbox: offered?.sandboxOnly ?? false,
      };
    },
  };
}
