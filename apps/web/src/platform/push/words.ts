import { formatAmount, toolAlone } from '@troupe/domain';
import type { SystemTx } from '@troupe/db';
import { agentName, taskName, type Send } from './store.ts';

/** What stands on the lock screen: who, and what kind of thing. What it is about is behind the link. */
export interface Said {
  title: string;
  body: string;
  /** A path of the dashboard. */
  url: string;
  /** One that is still on screen is replaced by the next of the same. */
  tag: string;
}

const LONGEST = 120;
const USD_DIGITS = 6;
const short = (text: string): string =>
  text.length > LONGEST ? `${text.slice(0, LONGEST - 1).toWellFormed()}…` : text;

/** Where it is decided; what was written down by an earlier release does not say which one it is. */
const itemUrl = (id = ''): string =>
  id === '' ? '/dashboard/inbox' : `/dashboard/inbox?item=${encodeURIComponent(id)}`;

/** Undefined: what it is about is gone. */
export async function wordsOf(tx: SystemTx, { kind, data }: Pick<Send, 'kind' | 'data'>): Promise<Said | undefined> {
  const about = data as Record<string, string>;
  const { agentId = '', taskId = '', tool = '', asks = '', units = '0' } = about;
  if (kind === 'test')
    return {
      title: 'Troupe',
      body: 'This browser is told.',
      url: '/dashboard/settings?tab=notifications',
      tag: 'test',
    };
  if (kind === 'task_failed' || kind === 'task_done') {
    const task = await taskName(tx, taskId);
    const body = kind === 'task_done' ? 'The task is done.' : 'The task failed.';
    return (
      task && {
        title: short(task.name),
        body,
        url: `/dashboard/tasks?task=${encodeURIComponent(taskId)}`,
        tag: `task:${taskId}`,
      }
    );
  }
  const agent = await agentName(tx, agentId);
  if (!agent) return undefined;
  const title = short(agent.name);
  if (kind === 'payment') {
    const amount = formatAmount(BigInt(units), USD_DIGITS);
    return {
      title,
      body: `Wants to pay ${amount} USD.`,
      url: itemUrl(about['paymentId']),
      tag: `payment:${agentId}`,
    };
  }
  const body = asks === 'yes' ? 'Asks you something.' : `Waits for you: ${short(toolAlone(tool))}`;
  return { title, body, url: itemUrl(about['approvalId']), tag: `approval:${agentId}` };
}
