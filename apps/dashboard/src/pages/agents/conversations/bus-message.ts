import { underground as texts } from '../../../texts/underground.ts';

export interface BusMessage {
  from: string;
  text: string;
}

// As the agent is told of it; people read names and words.
const TOLD = /^Message from the agent (\S+), action ([A-Z_]+):\n(.*)$/s;

/** Who sent a message of the underground and what it says in words; undefined for any other text. */
export function readBusMessage(content: string): BusMessage | undefined {
  const [, from, action, payload] = TOLD.exec(content) ?? [];
  if (!from || !action) return undefined;
  const said = Object.entries(parsed(payload ?? ''))
    .filter(([key, value]) => !key.endsWith('Id') && value !== null && typeof value !== 'object')
    .map(([key, value]) => `${texts.payload[key] ?? key}: ${String(value)}`);
  return { from, text: [texts.actions[action] ?? action, ...said].join('\n') };
}

/** What is no object is a text, and nothing at all is nothing. */
function parsed(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (value === null) return {};
    return typeof value === 'object' && !Array.isArray(value) ? value : { text };
  } catch {
    return { text };
  }
}
