import { web } from '@troupe/contract';
import { standingChoices } from '@troupe/domain';
import { useState } from 'react';
import { useCall } from '../../../api.ts';
import { chat } from '../../../texts/agents.ts';
import { standing as texts } from '../../../texts/standing.ts';
import { Button } from '../../../ui/button.tsx';
import { PickOne } from '../../../ui/field.tsx';
import { AnswerForm, Ends, inSight } from './answer-form.tsx';
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
      ref={inSight}
      className="flex min-w-0 flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        onDecide(approvalId, true, { always: { within } });
      }}
    >
      <PickOne
        label={texts.alwaysTitle}
        hint={texts.until}
        autoFocus
        value={String(at)}
        onChange={(value) => setAt(Number(value))}
        choices={choices.map((choice, index) => ({
          value: String(index),
          label: standingWords({ tool, ...choice }),
        }))}
      />
      {/* Its line is there from the beginning: what comes later moves nothing. */}
      <p className="min-h-6 text-[0.9rem] text-ink-soft" aria-live="polite">
        {found && allows !== undefined && texts.proof(found.asked, allows)}
      </p>
      <Ends action={texts.allow} busy={deciding}>
        <Back deciding={deciding} onBack={onBack} />
      </Ends>
    </form>
  );
}

/** A refusal that the agent can do something with. */
const Why = ({ approvalId, deciding, onDecide, onBack }: Part) => (
  <AnswerForm
    label={texts.why}
    hint={texts.whyHint}
    action={texts.refuse}
    busy={deciding}
    autoFocus
    onSend={(answer) => onDecide(approvalId, false, { answer })}
  >
    <Back deciding={deciding} onBack={onBack} />
  </AnswerForm>
);

const Back = ({ deciding, onBack }: Pick<Part, 'deciding' | 'onBack'>) => (
  <Button small kind="quiet" disabled={deciding} onClick={onBack}>
    {texts.back}
  </Button>
);
