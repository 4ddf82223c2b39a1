import { MESSAGE_TOO_LARGE } from '@troupe/contract';
import { AppError, currentTrace, traceparentOf } from '@troupe/kernel';
import type { Input, LiveEvent } from '../agent.ts';
import { NOTHING_SPENT, type SessionEventBody } from '../session/events.ts';
import { capped, resultEvent } from './tool-step.ts';

/** Of one message, whichever way it comes. */
const MAX_INPUT_BYTES = 256 * 1024;

export function checkSize({ content, wishes = {}, history = [], results = [], attachments = [] }: Input): void {
  const given = [...history, ...results].map((message) => message.content);
  const attached = attachments.map(({ text = '' }) => text).join('');
  for (const text of [content, JSON.stringify(wishes), attached, ...given])
    if (Buffer.byteLength(text) > MAX_INPUT_BYTES) throw new AppError(413, MESSAGE_TOO_LARGE);
}

export function inputEvents(input: Input): SessionEventBody[] {
  const { content, from, isNamed, limits, depth, wishes, history = [], attachments = [], results = [] } = input;
  const earlier = history.map((message): SessionEventBody => ({ type: 'imported', ...message }));
  const given = results.map((result) => resultEvent(result, { content: capped(result.content) }, NOTHING_SPENT));
  if (given.length > 0 && content === '' && attachments.length === 0) return [...earlier, ...given];
  const trace = currentTrace();
  const said: SessionEventBody = {
    type: 'user',
    content,
    ...(from && { from }),
    ...(isNamed && { named: true }),
    ...(limits && { limits }),
    ...(depth !== undefined && { depth }),
    ...(wishes && { wishes }),
    ...(attachments.length > 0 && { attachments }),
    ...(trace && { trace: traceparentOf(trace) }),
  };
  return [...earlier, ...given, said];
}

/** Without the words that were said before the input was seen: they belong to another. */
export function onlyAbout(seq: number, listener: (event: LiveEvent) => void): (event: LiveEvent) => void {
  return (live) => {
    const isOthers = live.kind === 'delta' ? live.saw < seq : live.event.type === 'assistant' && live.event.saw < seq;
    if (!isOthers) listener(live);
  };
}
