import { createStandIn, replyChat, type StandIn } from '@troupe/ai';

type Said = NonNullable<Parameters<typeof replyChat>[2]>;

/** What the model of the pictures says: tools first, then the text once their results are there. */
interface Scene {
  heard: RegExp;
  tools?: [name: string, args: object][];
  text: string;
}

const SCENES: Scene[] = [
  {
    heard: /plan for november/i,
    tools: [
      [
        'write_file',
        {
          path: 'releases/november.md',
          content:
            '17 Nov Low Tide (single), Ines Varga\n20 Nov Glass Harbour (EP), The Pale Hours\n20 Nov Night Bus (remix), Okta\n',
        },
      ],
    ],
    text: 'I keep the plan in `releases/november.md`: three releases, two of them on Friday 20 November.',
  },
  {
    heard: /what goes out this week/i,
    tools: [
      ['read_file', { path: 'releases/november.md' }],
      ['search_memories', { query: 'mastering Glass Harbour' }],
    ],
    text: `Three releases are planned for this week:

| Day | Title | State |
|---|---|---|
| Tue 17 | *Low Tide* (single), Ines Varga | ready |
| Fri 20 | *Glass Harbour* (EP), The Pale Hours | **master missing** |
| Fri 20 | *Night Bus* (remix), Okta | ready |

The master of **Glass Harbour** was promised for Monday. I suggest:

1. Ask the studio today for a firm date.
2. Hold the pre-save mail until the file is here.
3. Move the EP to 27 November if it is not here on Wednesday.

Shall I write to the studio?`,
  },
  {
    heard: /write the note to the studio/i,
    tools: [
      [
        'write_file',
        { path: 'outbox/studio.md', content: 'Dear Jonas,\n\nwhen can we expect the master of Glass Harbour?' },
      ],
    ],
    text: 'The note is in `outbox/studio.md`. I keep an eye on it and tell you when they answer.',
  },
  {
    heard: /copy the masters/i,
    tools: [['shell', { cmd: 'ls -lh masters && sha256sum masters/*' }]],
    text: 'All three masters are there, and their checksums match the delivery list.',
  },
  {
    heard: /who played/i,
    tools: [['search_memories', { query: 'support act' }]],
    text: 'Okta opened for The Pale Hours in Ghent and Cologne. Both promoters asked for them again.',
  },
  {
    heard: /need a press line/i,
    tools: [
      [
        'transfer_task',
        { agent: 'writer', task: 'One press line for Glass Harbour', expected_output: 'One sentence, under 20 words' },
      ],
    ],
    text: 'Here is the line we settled on: “Five songs recorded in a boathouse, with the tide left in.”',
  },
  { heard: /One press line/i, text: 'Five songs recorded in a boathouse, with the tide left in.' },
  {
    heard: /morning report/i,
    text: 'Two singles are ready, one master is missing. 14 mails came in overnight, 3 need an answer. Nothing is over budget.',
  },
  {
    heard: /record label/i,
    text: `A small label could start with three:

- **Release desk** keeps dates, files and metadata in order.
- **Booking** answers offers within limits that you set.
- **Royalties** reads statements and splits what comes in.

A lead hands work to the others, all share one memory, and each has a spend cap.`,
  },
];

const OTHERWISE = 'Done. I have noted it, and I will come back to it on Friday.';

interface Spoken {
  role: string;
  content: string | null;
}

function answerTo(messages: Spoken[]): Said {
  const asked = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const scene = SCENES.find(({ heard }) => heard.test(asked));
  const usage = {
    prompt_tokens: 900 + messages.reduce((sum, { content }) => sum + Math.ceil((content?.length ?? 0) / 4), 0),
    completion_tokens: Math.ceil((scene?.text.length ?? 60) / 3.5),
  };
  const answered =
    messages.findLastIndex(({ role }) => role === 'tool') > messages.findLastIndex(({ role }) => role === 'user');
  if (!scene?.tools || answered) return { content: scene?.text ?? OTHERWISE, usage };
  const toolCalls = scene.tools.map(([name, args], index) => ({
    id: `call_${messages.length}_${index}`,
    name,
    arguments: JSON.stringify(args),
  }));
  return { content: null, toolCalls, usage };
}

/** A model for pictures: real HTTP, made-up words. */
export const startModel = (): Promise<StandIn> =>
  createStandIn((request, response) => {
    const messages = (request.body['messages'] ?? []) as Spoken[];
    setTimeout(() => replyChat(request, response, answerTo(messages)), 40);
  });

/** Settings that make it the platform's aggregator. */
export const modelEnv = ({ url }: StandIn) => ({ OPENROUTER_API_KEY: 'sk-pictures', OPENROUTER_BASE_URL: url });
