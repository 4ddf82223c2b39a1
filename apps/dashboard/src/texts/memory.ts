export const memoryCare = {
  title: 'How it is filled and searched',
  hint: 'Both cost something: the model that you name, or the agent’s own, is asked on your account and within your caps.',
  facts: 'Find facts in conversations',
  factsHint:
    'When a conversation has rested for ten minutes, the agent’s model looks for facts in what was said. They are kept with where they came from, and nothing is replaced: you decide about those that contradict each other.',
  model: 'Embeddings model',
  modelHint:
    'With one, memories are also found by what they mean: their texts, and the questions about them, are sent to it. Empty: they are found by words, and nothing is sent.',
  embedded: (done: number, all: number) => `${done} of ${all} memories are found by meaning.`,
  save: 'Save the model',
  saved: 'Saved',
  found: 'Facts from conversations',
  foundHint: 'The newest first. Each is a memory as any other: edit or delete it above.',
  none: 'None have been found yet.',
  from: (conversation: string, day: string) => `From “${conversation}”, ${day}`,
  fromDeleted: (day: string) => `From a conversation that was deleted, ${day}`,
  contradicts: 'It contradicts what was known before',
  said: (content: string, day: string) => `${content} (${day})`,
  keep: { this: 'Keep the new one', others: 'Keep what was known', all: 'Keep both' },
  decided: 'Decided',
};
