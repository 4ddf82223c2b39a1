import type { Plan } from '@troupe/domain';
import type { NewAgent } from './agent.ts';
import type { ConfigPart } from './config.ts';
import { checkSkillCount } from './skills.ts';

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
  checkSkillCount(wish.skills.length, plan);
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
    // The other names are told in the configuration only: they may mean something to another program.
    ...(wish.skills.length > 0 && { skills: { names: wish.skills, lenient: true } }),
  };
}
