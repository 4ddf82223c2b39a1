/** Skills of our own, that come with the platform. Short on purpose: a model knows the trade, these say how we work. */

export interface BuiltInSkill {
  name: string;
  description: string;
  body: string;
}

export const BUILT_IN_SKILLS: readonly BuiltInSkill[] = [];
