import { PLAN_LIMITS, type Plan } from '@troupe/domain';
import { AppError } from '@troupe/kernel';
import type { NewAgent } from './agent.ts';
import type { ConfigPart } from './config.ts';

/** What somebody asks for who has an agent provisioned. */
export interface Wish {
  name?: string | undefined;
  model?: string | undefined;
  aiProvider: string;
  apiKey?: string | undefined;
  instruction?: string | undefined;
  skills: readonly string[];
  channelUserId?: string | undefined;
  channelTokenA?: string | undefined;
  channelTokenB?: string | undefined;
  channelTokenC?: string | undefined;
}

export const channelTokens = ({
  channelTokenA,
  channelTokenB,
  channelTokenC,
}: Pick<Wish, 'channelTokenA' | 'channelTokenB' | 'channelTokenC'>): Record<string, string> => ({
  ...(channelTokenA && { channelA: channelTokenA }),
  ...(channelTokenB && { channelB: channelTokenB }),
  ...(channelTokenC && { channelC: channelTokenC }),
});

export const enabledChannels = (tokens: Readonly<Record<string, string>>): ConfigPart =>
  Object.fromEntries(Object.keys(tokens).map((channel) => [channel, { enabled: true }]));

/** The agent that was asked for, whoever is to run it. `model` serves where none was named. */
export function provisioned(
  wish: Wish,
  { id, plan, model }: { id: string; plan: Plan; model: string },
): Omit<NewAgent, 'userId'> {
  const most = PLAN_LIMITS[plan].skills;
  if (wish.skills.length > most) throw new AppError(400, `Too many skills for the ${plan} plan (max ${most})`);
  const channels = channelTokens(wish);
  return {
    id,
    name: wish.name ?? 'My agent',
    plan,
    status: 'provisioning',
    model: wish.model ?? model,
    aiProvider: wish.aiProvider,
    ...(wish.apiKey && { apiKey: wish.apiKey }),
    definition: { ...(wish.instruction !== undefined && { instruction: wish.instruction }) },
    ownConfig: {
      ...(wish.model && { model: { default: wish.model } }),
      ...(Object.keys(channels).length > 0 && { channels: enabledChannels(channels) }),
      ...(wish.skills.length > 0 && { skills: wish.skills }),
      ...(wish.channelUserId && { channelUserId: wish.channelUserId }),
    },
    channels,
  };
}
