import { ANSWER_LENGTH, web } from '@troupe/contract';
import { standingChoices } from '@troupe/domain';
import { useState } from 'react';
import { useCall } from '../../../api.ts';
import { chat } from '../../../texts/agents.ts';
import { standing as texts } from '../../../texts/standing.ts';
import { Button } from '../../../ui/button.tsx';
import { SelectField, TextArea } from '../../../ui/field.tsx';
import type { Decide } from './decide.ts';
import { argsOf } from './effect.ts';
import { standingWords } from './standing-words.ts';

interface Deciding {
  agentId: string;
  approvalId: string;
  tool: string;
  args: string;
  deciding: boolean;
  onDecide: Decide;
}

/** The answers to a call that waits: once, from now on, no, and no with a word. */
export function Answers({ agentId, approvalId, tool, args, deciding, onDecide }: Deciding) {
  const [open, setOpen] = useState<'always' | 'why'>();
  const choices = standingChoices(tool, argsOf(args));
  const back = () => setOpen(undefined);
  const shared = { approvalId, deciding, onDecide, onBack: back };
  if (open === 'always') return <Always {...shared} agentId={agentId} tool={tool} choices={choices} />;
  if (open === 'why') return <Why {...shared} />;
  return (
    <div className="flex flex-wrap gap-2">
      <Button small kind="primary" data-act="a" disabled={deciding} onClick={() => onDecide(approvalId, true)}>
        {texts.once}
      </Button>
      {choices.length > 0 && (
        <Button small data-act="A" disabled={deciding} onClick={() => setOpen('always')}>
          {texts.always}
        </Button>
      )}
      <Button small data-act="r" disabled={deciding} onClick={() => onDecide(approvalId, false)}>
        {chat.deny}
      </Button>
      <Button small kind="quiet" disabled={deciding} onClick={() => setOpen('why')}>
        {texts.sayWhy}
      </Button>
    </div>
  );
}

type Part = Pick<Deciding, 'approvalId' | 'deciding' | 'onDecide'> & { onBack: () => void };

/** A rule in a sentence, the narrowest first. */
function Always({
  agentId,
  approvalId,
  tool,
  choices,
  deciding,
  onDecide,
  onBack,
}: Part & { agentId: string; tool: string; choices: ReturnType<typeof standingChoices> }) {
  const [at, setAt] = useState(0);
  const within = choices[at]?.within ?? null;
  const found = useCall(web.conversations.getRules, { params: { id: agentId, approvalId } }, { retry: false }).data;
  const allows = found?.rules.find((one) => one.within === within)?.allows;
  return (
    <form
      className="flex min-w-0 flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        onDecide(approvalId, true, { always: { within } });
      }}
    >
      <SelectField
        label={texts.alwaysTitle}
        hint={texts.until}
        autoFocus
        value={String(at)}
        onChange={({ target }) => setAt(Number(target.value))}
        choices={choices.map((choice, index) => ({
          value: String(index),
          label: standingWords({ tool, ...choice }),
        }))}
      />
      {/* Its line is there from the beginning: what comes later moves nothing. */}
      <p className="min-h-6 text-[0.9rem] text-ink-soft" aria-live="polite">
        {found && allows !== undefined && texts.proof(found.asked, allows)}
      </p>
      <Ends action={texts.allow} deciding={deciding} onBack={onBack} />
    </form>
  );
}

/** A refusal that the agent can do something with. */
function Why({ approvalId, deciding, onDecide, onBack }: Part) {
  const [answer, setAnswer] = useState('');
  return (
    <form
      className="flex min-w-0 flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        onDecide(approvalId, false, { answer });
      }}
    >
      <TextArea
        label={texts.why}
        hint={texts.whyHint}
        rows={2}
        required
        autoFocus
        maxLength={ANSWER_LENGTH}
        value={answer}
        onChange={({ target }) => setAnswer(target.value)}
      />
      <Ends action={texts.refuse} deciding={deciding} onBack={onBack} />
    </form>
  );
}

const Ends = ({ action, deciding, onBack }: { action: string; deciding: boolean; onBack: () => void }) => (
  <div className="flex flex-wrap gap-2">
    <Button small kind="primary" type="submit" disabled={deciding}>
      {action}
    </Button>
    <Button small kind="quiet" disabled={deciding} onClick={onBack}>
      {texts.back}
    </Button>
  </div>
);
