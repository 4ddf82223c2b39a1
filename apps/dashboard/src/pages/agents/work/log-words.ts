import { count, duration } from '../../../format.ts';
import { work as texts } from '../../../texts/work.ts';
import { toolFailed, toolWaits } from '../../../texts/tools.ts';
import { toolAlone } from '@troupe/domain';

const WAITS = /^Waits for a decision about (\S+)\.$/;
/** Names of tools; `Run failed` is about the run. */
const FAILED = /^([a-z][\w.:-]*) failed: (.*)$/s;

const ENDED = /^Run (\w+)(?:: (.*))? \(\d+ turns?, (\d+) tokens, (\d+\.\d) s\)$/s;

/** How a run ended: what it took, and why, where something was wrong. */
function ending(message: string): string | undefined {
  const [, outcome = '', why, tokens, seconds] = ENDED.exec(message) ?? [];
  const how = Object.hasOwn(texts.endings, outcome) ? texts.endings[outcome] : undefined;
  if (how === undefined) return undefined;
  const told = texts.ended(how, duration(Number(seconds) * 1000), count(Number(tokens)));
  return why === undefined ? told : `${told}: ${why}`;
}

/** A line of the agent's log, as a person would say it; the tool that it names, for who wants to know. */
export function logWords(message: string): { text: string; tool?: string } {
  const ended = ending(message);
  if (ended !== undefined) return { text: ended };
  const waiting = WAITS.exec(message)?.[1];
  if (waiting !== undefined) return { text: toolWaits(toolAlone(waiting)), tool: waiting };
  const [, tool, why = ''] = FAILED.exec(message) ?? [];
  return tool === undefined ? { text: message } : { text: toolFailed(toolAlone(tool), why), tool };
}
