import { money, short, time } from '../../format.ts';
import { chat as texts } from '../../texts/agents.ts';
import { Button, Spinner } from '../../ui/button.tsx';
import { Badge } from '../../ui/card.tsx';
import { cx } from '../../ui/cx.ts';
import { Icon } from '../../ui/icons.tsx';
import { Markdown } from '../../ui/markdown.tsx';
import type { ToolUse, Turn } from './transcript.ts';

export type Decide = (approvalId: string, approved: boolean) => void;

/** A conversation, with the tools that were used and what waits for a decision. */
export function Turns({ turns, onDecide, deciding }: { turns: Turn[]; onDecide: Decide; deciding: boolean }) {
  return turns.map((turn) => {
    if (turn.kind === 'note') {
      return (
        <p key={turn.key} className="self-center text-center text-[0.9rem] text-spot">
          {turn.text}
        </p>
      );
    }
    const mine = turn.kind === 'user';
    return (
      <article
        key={turn.key}
        className={cx('flex max-w-[92%] min-w-0 flex-col gap-2 sm:max-w-[80%]', mine ? 'self-end' : 'self-start')}
      >
        {turn.text && <Bubble text={turn.text} mine={mine} />}
        {!mine &&
          turn.tools.map((tool) => <ToolCard key={tool.callId} tool={tool} onDecide={onDecide} deciding={deciding} />)}
        <p className={cx('num text-[0.78rem] text-ink-faint', mine && 'text-right')}>
          {time(turn.at)}
          {!mine && turn.spent && turn.spent.tokens > 0 && (
            <> · {texts.cost(money(turn.spent.costMicros / 1e6), short(turn.spent.tokens))}</>
          )}
        </p>
      </article>
    );
  });
}

export function Bubble({ text, mine }: { text: string; mine: boolean }) {
  return (
    <div
      className={cx(
        'max-w-full min-w-0 rounded-2xl px-4 py-2.5 break-words',
        mine
          ? 'self-end rounded-br-md bg-accent whitespace-pre-wrap text-on-accent'
          : 'self-start rounded-bl-md bg-sunken',
      )}
    >
      {mine ? text : <Markdown text={text} />}
    </div>
  );
}

const TONE = {
  planned: 'neutral',
  waiting: 'spot',
  running: 'info',
  done: 'ok',
  failed: 'danger',
  refused: 'danger',
} as const;

function ToolCard({ tool, onDecide, deciding }: { tool: ToolUse; onDecide: Decide; deciding: boolean }) {
  return (
    <div className="min-w-0 rounded-xl border border-line bg-surface">
      <details>
        <summary className="flex cursor-pointer items-center gap-2 px-3 py-2 text-[0.9rem]">
          {tool.state === 'running' ? <Spinner size={14} /> : <Icon name="wrench" size={15} />}
          <span className="min-w-0 flex-1 truncate font-mono text-[0.85rem]">{tool.tool}</span>
          <Badge tone={TONE[tool.state]}>{texts.toolStates[tool.state]}</Badge>
        </summary>
        <dl className="flex flex-col gap-2 border-t border-line px-3 py-2 text-[0.85rem]">
          <dt className="text-ink-faint">{texts.arguments}</dt>
          <dd className="font-mono break-words whitespace-pre-wrap">{pretty(tool.args)}</dd>
          {tool.result !== undefined && (
            <>
              <dt className="text-ink-faint">{texts.result}</dt>
              <dd className="max-h-60 overflow-y-auto font-mono break-words whitespace-pre-wrap" tabIndex={0}>
                {tool.result}
              </dd>
            </>
          )}
        </dl>
      </details>
      {tool.state === 'waiting' && tool.approvalId && (
        <div className="flex flex-wrap items-center gap-2 border-t border-line bg-spot-soft px-3 py-2">
          <span className="flex-1 font-medium">{texts.approvalTitle(tool.tool)}</span>
          <Button small kind="primary" disabled={deciding} onClick={() => onDecide(tool.approvalId!, true)}>
            {texts.approve}
          </Button>
          <Button small disabled={deciding} onClick={() => onDecide(tool.approvalId!, false)}>
            {texts.deny}
          </Button>
        </div>
      )}
    </div>
  );
}

/** Arguments as the model wrote them: usually JSON, but it may be broken. */
function pretty(args: string): string {
  try {
    return JSON.stringify(JSON.parse(args), null, 2);
  } catch {
    return args;
  }
}
