import { toolFailed, toolWaits } from '../../../texts/tools.ts';
import { toolAlone } from '../conversations/tool-words.ts';

const WAITS = /^Waits for a decision about (\S+)\.$/;
/** Names of tools; `Run failed` is about the run. */
const FAILED = /^([a-z][\w.:-]*) failed: (.*)$/s;

/** A line of the agent's log, as a person would say it; the tool that it names, for who wants to know. */
export function logWords(message: string): { text: string; tool?: string } {
  const waiting = WAITS.exec(message)?.[1];
  if (waiting !== undefined) return { text: toolWaits(toolAlone(waiting)), tool: waiting };
  const [, tool, why = ''] = FAILED.exec(message) ?? [];
  return tool === undefined ? { text: message } : { text: toolFailed(toolAlone(tool), why), tool };
}
