import { memo } from 'react';
import type { ReactNode } from 'react';
import { inDollars, money, short, time } from '../../../format.ts';
import { chat as texts } from '../../../texts/agents.ts';
import { Button, LinkButton, Spinner } from '../../../ui/button.tsx';
import { Badge } from '../../../ui/card.tsx';
import { cx } from '../../../ui/cx.ts';
import { Icon } from '../../../ui/icons.tsx';
import { Markdown } from '../../../ui/markdown.tsx';
import { Approval } from './approval.tsx';
import type { Decide } from './approval.tsx';
import type { Ending, ToolUse, Turn } from './transcript.ts';

interface Props {
  turns: Turn[];
  deciding: boolean;
  onDecide: Decide;
  /** Asks the last question again. */
  onAgain: () => void;
}

/** A conversation, with the tools that were used and what waits for a decision. */
export function Turns({ turns, onDecide, onAgain, deciding }: Props) {
  const last = turns.at(-1);
  return turns.map((turn) =>
    turn.kind === 'note' ? (
      <Note key={turn.key} ending={turn} onAgain={turn === last ? onAgain : undefined} />
    ) : (
      <Said key={turn.key} turn={turn} onDecide={onDecide} deciding={deciding} />
    ),
  );
}

/** How a run ended, and what can be done about it. */
function Note({ ending, onAgain }: { ending: Ending; onAgain?: () => void }) {
  const { outcome, text, spent, isRefused } = ending;
  if (outcome === 'cancelled') {
    return (
      <p className="self-start text-[0.9rem] text-ink-faint">
        {texts.stoppedByYou(money((spent?.costMicros ?? 0) / 1e6))}
      </p>
    );
  }
  return (
    <div className="flex max-w-full flex-wrap items-center gap-2 self-start rounded-xl bg-spot-soft px-4 py-2 text-[0.95rem] text-spot">
      <span className="min-w-0 break-words">{reasonOf(text) || (texts.outcomes[outcome] ?? outcome)}</span>
      {isRefused && (
        <LinkButton small to="/dashboard/cost">
          {texts.caps}
        </LinkButton>
      )}
      {onAgain && (
        <Button small icon="restart" onClick={onAgain}>
          {texts.again}
        </Button>
      )}
    </div>
  );
}

/** A cap that is passed is said as what was spent and what was allowed. */
const reasonOf = (text: string): string => {
  const [, used, limit] =
    /^Spend cap reached: (\d{1,15}(?:\.\d{1,9})?) of (\d{1,15}(?:\.\d{1,9})?) USD used/.exec(text) ?? [];
  return used === undefined || limit === undefined ? inDollars(text) : texts.capReached(money(used), money(limit));
};

type Spoken = Exclude<Turn, Ending>;

const sameTools = (a: ToolUse[], b: ToolUse[]): boolean =>
  a.length === b.length &&
  a.every(({ state, result }, index) => state === b[index]!.state && result === b[index]!.result);

/** What is shown stays as it is, however much comes after it. */
const isSame = (
  a: { turn: Spoken; deciding: boolean; onDecide: Decide },
  b: { turn: Spoken; deciding: boolean; onDecide: Decide },
): boolean =>
  a.deciding === b.deciding &&
  a.onDecide === b.onDecide &&
  a.turn.key === b.turn.key &&
  a.turn.text === b.turn.text &&
  (a.turn.kind !== 'agent' || b.turn.kind !== 'agent' || sameTools(a.turn.tools, b.turn.tools));

const Said = memo(function Said({ turn, onDecide, deciding }: { turn: Spoken; deciding: boolean; onDecide: Decide }) {
  const mine = turn.kind === 'user';
  return (
    <article className={cx('flex max-w-[92%] min-w-0 flex-col gap-2 sm:max-w-[80%]', mine ? 'self-end' : 'self-start')}>
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
}, isSame);

export function Bubble({ text, mine, children }: { text: string; mine: boolean; children?: ReactNode }) {
  return (
    <div
      dir="auto"
      className={cx(
        'max-w-full min-w-0 rounded-2xl px-4 py-2.5 break-words',
        mine
          ? 'self-end rounded-br-md bg-accent whitespace-pre-wrap text-on-accent'
          : 'self-start rounded-bl-md bg-sunken',
      )}
    >
      {mine ? text : <Markdown text={text} />}
      {children}
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
    <div className="min-w-0 overflow-hidden rounded-xl border border-line bg-surface">
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
        <div className="border-t border-line bg-spot-soft px-3 py-3">
          <Approval {...tool} approvalId={tool.approvalId} deciding={deciding} onDecide={onDecide} />
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
