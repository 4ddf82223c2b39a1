import type { SessionEventBody } from '../session/events.ts';
import type { LogLine } from './store.ts';

const RUN = { source: 'run' };

/** What the owner's log says about a run: how it ended, what broke on the way, what waits. */
export function logLine(event: SessionEventBody): LogLine | undefined {
  if (event.type === 'run_ended') {
    const { turns, tokens, ms } = event.spent;
    const spent = `${turns} ${turns === 1 ? 'turn' : 'turns'}, ${tokens} tokens, ${(ms / 1000).toFixed(1)} s`;
    const reason = event.reason ? `: ${event.reason}` : '';
    return {
      ...RUN,
      level: event.outcome === 'done' ? 'info' : 'warn',
      message: `Run ${event.outcome}${reason} (${spent})`,
    };
  }
  if (event.type === 'approval_requested')
    return { ...RUN, level: 'info', message: `Waits for a decision about ${event.tool}.` };
  if (event.type !== 'tool_result' || !event.isError) return undefined;
  return { ...RUN, level: 'warn', message: `${event.tool} failed: ${event.content.slice(0, 300)}` };
}
