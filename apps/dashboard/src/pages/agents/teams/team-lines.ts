import type { SessionStep } from '@troupe/contract';
import { teamRun as texts } from '../../../texts/teams.ts';
import { effectOf } from '../conversations/effect.ts';
import { toolLine } from '../conversations/tool-words.ts';

export interface Member {
  agentId: string;
  name: string;
}

export interface Line {
  key: string;
  member: Member;
  at: string;
  what: string;
  text: string;
}

const SHOWN = 40;

/** What the members get, say and hand to each other, in the order in which it happened: the newest of it. */
export const linesOf = (works: readonly { member: Member; steps: readonly SessionStep[] }[]): Line[] =>
  works
    .flatMap(({ member, steps }) => steps.flatMap((step) => lineOf(member, step)))
    .sort((a, b) => a.at.localeCompare(b.at))
    .slice(-SHOWN);

function lineOf(member: Member, step: SessionStep): Line[] {
  const line = (what: string, text = '', part = ''): Line => ({
    key: `${member.agentId}-${step.seq}${part}`,
    member,
    at: step.at,
    what,
    text,
  });
  if (step.type === 'user') return [line(texts.gets, step.content)];
  if (step.type === 'run_ended') return step.outcome === 'done' ? [] : [line(texts.broke, step.reason ?? step.outcome)];
  if (step.type !== 'assistant') return [];
  const calls = (step.toolCalls ?? []).map(({ callId, tool, args }) => {
    const effect = effectOf(tool, args);
    return effect.kind === 'task'
      ? line(texts.handsOver(effect.to), effect.task, callId)
      : line(texts.does, toolLine(tool, args), callId);
  });
  return [...(step.content ? [line(texts.says, step.content)] : []), ...calls];
}
