import type { Ai, AiModel } from '@troupe/ai';
import { planAllows, type Catalogue } from '@troupe/domain';
import { AppError, type RequestInfo, type User } from '@troupe/kernel';
import type { Access } from './access.ts';

/** When a model was made is not known here. */
const UNKNOWN_TIME = '1970-01-01T00:00:00Z';

const described = ({ id, name, provider }: AiModel) => ({
  id,
  object: 'model' as const,
  created: 0,
  owned_by: provider,
  type: 'model' as const,
  display_name: name,
  created_at: UNKNOWN_TIME,
});

/** The models that a caller can use, as clients of OpenAI and of Anthropic read them. */
export function createV1Models({ ai, catalogue, access }: { ai: Ai; catalogue: Catalogue; access: Access }) {
  async function list(user: User | null, headers: RequestInfo['headers']) {
    const { plan } = access.byKey(user, headers);
    const isAllowed = ({ id, available }: AiModel): boolean =>
      available && (plan === undefined || planAllows(catalogue, plan, id));
    return (await ai.models()).filter(isAllowed).map(described);
  }

  return {
    list,
    async get(user: User | null, headers: RequestInfo['headers'], id: string) {
      const found = (await list(user, headers)).find((one) => one.id === id);
      if (!found) throw new AppError(404, `Model ${id} not found`, { code: 'model_not_found' });
      return found;
    },
  };
}
