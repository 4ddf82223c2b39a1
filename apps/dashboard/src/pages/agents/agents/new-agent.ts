export const CHANNELS = ['channelA', 'channelB', 'channelC'] as const;
type Channel = (typeof CHANNELS)[number];

export interface NewAgent {
  name: string;
  /** Undefined: the platform's own choice. */
  model: string | undefined;
  instruction: string;
  tools: string[];
  tokens: Partial<Record<Channel, string>>;
}

export const NEW_AGENT: NewAgent = {
  name: '',
  model: undefined,
  instruction: '',
  tools: ['filesystem', 'think', 'todo', 'memory'],
  tokens: {},
};

/** What is sent; a channel without a token is left out. */
export function provisionBody({ name, model, instruction, tools, tokens }: NewAgent) {
  const channels = CHANNELS.filter((key) => tokens[key]).map((key) => [
    key.replace('channel', 'channelToken'),
    tokens[key],
  ]);
  return { name, model, config: { instruction, tools, ...Object.fromEntries(channels) } };
}
