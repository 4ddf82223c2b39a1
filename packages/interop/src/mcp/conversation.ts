/** An event of a conversation, as far as it has words in it. */
export interface LoggedEvent {
  type: string;
  [field: string]: unknown;
}

export interface Said {
  role: 'user' | 'agent' | 'platform';
  content: string;
}

const MOST_MESSAGES = 50;
const MOST_CHARACTERS = 50_000;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

function saidBy(event: LoggedEvent): Said | undefined {
  const content = text(event['content']);
  if (event.type === 'user') return { role: 'user', content };
  if (event.type === 'assistant') return content === '' ? undefined : { role: 'agent', content };
  if (event.type === 'imported') return { role: event['role'] === 'assistant' ? 'agent' : 'user', content };
  if (event.type === 'approval_requested')
    return { role: 'platform', content: `Waits for an approval of ${text(event['tool'])}.` };
  const reason = text(event['reason']);
  if (event.type === 'run_ended' && event['outcome'] !== 'done')
    return { role: 'platform', content: reason === '' ? `The run ended: ${text(event['outcome'])}.` : reason };
  return undefined;
}

/** The last messages among the events, as many as fit. */
export function lastMessages(events: readonly LoggedEvent[]): Said[] {
  const found: Said[] = [];
  let left = MOST_CHARACTERS;
  for (const event of events.toReversed()) {
    const said = saidBy(event);
    if (!said) continue;
    if (found.length >= MOST_MESSAGES || left <= 0) break;
    const content = said.content.length > left ? `${said.content.slice(0, left)}…` : said.content;
    left -= content.length;
    found.push({ ...said, content });
  }
  return found.toReversed();
}
