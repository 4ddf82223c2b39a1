import type { ModelClient } from '@troupe/ai';
import type { SessionEvent } from '../session/events.ts';
import { textWithAttached } from './attached.ts';

/** Shortens what a model reads of a long session. The log keeps everything. */

const KEEP_SHARE = 0.3;
const MAX_RESULT_CHARACTERS = 1500;
const MAX_TRANSCRIPT_CHARACTERS = 120_000;

const SUMMARISE = `Summarise this conversation between a user and an agent so that the agent can go on without it.
Keep: what the user wants, decisions, facts, names, file paths, results of tools that still matter, what is done and what is open.
Write short notes, no introduction.`;

const size = (event: SessionEvent): number => {
  if (event.type === 'assistant')
    return event.content.length + event.toolCalls.reduce((sum, call) => sum + call.args.length, 0);
  const attached = event.type === 'user' ? (event.attachments ?? []) : [];
  return (
    ('content' in event ? event.content.length : 0) + attached.reduce((sum, { text = '' }) => sum + text.length, 0)
  );
};

/**
 * The event up to which the log can be summed up: about the older two thirds, cut where no call is parted from its
 * result. Undefined: there is no such place.
 */
export function cutPoint(events: readonly SessionEvent[]): number | undefined {
  const total = events.reduce((sum, event) => sum + size(event), 0);
  let kept = 0;
  for (let at = events.length - 1; at > 0; at--) {
    const event = events[at];
    const before = events[at - 1];
    if (!event || !before) return undefined;
    kept += size(event);
    const startsTurn = event.type === 'user' || event.type === 'assistant';
    if (startsTurn && kept >= total * KEEP_SHARE && callsAnswered(events.slice(0, at))) return before.seq;
  }
  return undefined;
}

function callsAnswered(events: readonly SessionEvent[]): boolean {
  const open = new Set<string>();
  for (const event of events) {
    if (event.type === 'assistant') for (const { callId } of event.toolCalls) open.add(callId);
    if (event.type === 'tool_result') open.delete(event.callId);
  }
  return open.size === 0;
}

function transcript(events: readonly SessionEvent[]): string {
  const lines = events.flatMap((event) => {
    switch (event.type) {
      case 'user':
        return [`User: ${textWithAttached(event, MAX_RESULT_CHARACTERS)}`];
      case 'imported':
        return [`${event.role}: ${event.content}`];
      case 'assistant':
        return [
          ...(event.content ? [`Agent: ${event.content}`] : []),
          ...event.toolCalls.map(({ tool, args }) => `Agent calls ${tool} ${args.slice(0, MAX_RESULT_CHARACTERS)}`),
        ];
      case 'tool_result':
        return [`Result of ${event.tool}: ${event.content.slice(0, MAX_RESULT_CHARACTERS)}`];
      case 'compaction':
        return [`Earlier: ${event.summary}`];
      default:
        return [];
    }
  });
  return lines.join('\n').slice(-MAX_TRANSCRIPT_CHARACTERS);
}

/** The request that asks a model for the summary. */
export const summaryRequest = (model: string, events: readonly SessionEvent[]): Parameters<ModelClient['chat']>[0] => ({
  model,
  messages: [
    { role: 'system', content: SUMMARISE },
    { role: 'user', content: transcript(events) },
  ],
});
