import { chat as texts } from '../../../texts/agents.ts';
import { attach, talk } from '../../../texts/talk.ts';
import { toolName } from '../../../texts/tools.ts';
import { Button, Spinner } from '../../../ui/button.tsx';
import { Badge } from '../../../ui/card.tsx';
import { Icon } from '../../../ui/icons.tsx';
import type { Attachment } from '@troupe/contract';
import { fileUrl } from './attach.tsx';
import { Approval } from './approval.tsx';
import { Asked } from './question.tsx';
import { visible } from '../../../visible.ts';
import { effectOf } from './effect.ts';
import { toolWords } from './tool-words.ts';
import type { ToolUse } from './transcript.ts';
import type { TurnActions } from './turn-actions.ts';

const TONE = {
  planned: 'neutral',
  waiting: 'spot',
  running: 'info',
  done: 'ok',
  failed: 'danger',
  refused: 'danger',
} as const;

/** The file that a call has left behind. */
function madeBy({ tool, args, state }: ToolUse): string | undefined {
  if (state !== 'done') return undefined;
  const effect = effectOf(tool, args);
  if (effect.kind === 'file' || effect.kind === 'edit') return effect.path || undefined;
  return effect.kind === 'move' ? effect.to || undefined : undefined;
}

/** A use of a tool: what it does, in words, and how it went; its name, arguments and result for who wants to know. */
export function ToolCard({ tool, actions, deciding }: { tool: ToolUse; actions: TurnActions; deciding: boolean }) {
  const file = madeBy(tool);
  const { verb, about } = toolWords(tool.tool, tool.args, tool.state === 'running');
  return (
    <div className="min-w-0 overflow-hidden rounded-xl border border-line bg-surface">
      <details>
        <summary className="flex cursor-pointer items-center gap-2 px-3 py-2 text-[0.9rem]">
          {tool.state === 'running' ? <Spinner size={14} /> : <Icon name="wrench" size={15} />}
          <span className="min-w-0 flex-1 truncate">
            {verb} <bdi className="text-ink-soft">{about}</bdi>
          </span>
          <Badge tone={TONE[tool.state]}>{texts.toolStates[tool.state]}</Badge>
        </summary>
        <Inside tool={tool} />
      </details>
      {tool.pictures && <Pictures pictures={tool.pictures} actions={actions} />}
      {file !== undefined && (
        <div className="flex items-center gap-2 border-t border-line px-3 py-1.5">
          <Icon name="file" size={15} />
          <span className="min-w-0 flex-1 truncate text-[0.87rem]" dir="auto">
            {file}
          </span>
          <Button small onClick={() => actions.onOpen(file)}>
            {talk.openFile}
          </Button>
        </div>
      )}
      {tool.state === 'waiting' && tool.approvalId && (
        <div className="border-t border-line bg-spot-soft px-3 py-3">
          {tool.question ? (
            <Asked
              question={tool.question}
              approvalId={tool.approvalId}
              deciding={deciding}
              onDecide={actions.onDecide}
            />
          ) : (
            <Approval
              {...tool}
              agentId={actions.agentId}
              approvalId={tool.approvalId}
              deciding={deciding}
              onDecide={actions.onDecide}
            />
          )}
        </div>
      )}
    </div>
  );
}

/** The call as it was made. */
function Inside({ tool: { tool, args, result } }: { tool: ToolUse }) {
  return (
    <dl className="flex flex-col gap-2 border-t border-line px-3 py-2 text-[0.85rem]">
      <dt className="text-ink-faint">{toolName}</dt>
      <dd className="font-mono break-words">{tool}</dd>
      <dt className="text-ink-faint">{texts.arguments}</dt>
      <dd className="font-mono break-words whitespace-pre-wrap">{visible(pretty(args))}</dd>
      {result !== undefined && (
        <>
          <dt className="text-ink-faint">{texts.result}</dt>
          <dd className="max-h-60 overflow-y-auto font-mono break-words whitespace-pre-wrap" tabIndex={0}>
            {result}
          </dd>
        </>
      )}
    </dl>
  );
}

/** What the call has drawn, or seen. */
function Pictures({ pictures, actions }: { pictures: Attachment[]; actions: TurnActions }) {
  return (
    <ul className="flex flex-wrap gap-2 border-t border-line px-3 py-2">
      {pictures.map(({ path }) => (
        <li key={path} className="min-w-0">
          <button type="button" aria-label={attach.open(path)} onClick={() => actions.onOpen(path)}>
            <img
              src={fileUrl(actions.agentId, path, true)}
              alt={path.slice(path.lastIndexOf('/') + 1)}
              loading="lazy"
              className="max-h-72 max-w-full rounded-lg border border-line object-contain"
            />
          </button>
        </li>
      ))}
    </ul>
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
