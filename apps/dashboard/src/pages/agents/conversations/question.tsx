import type { Question } from '@troupe/contract';
import { chat as texts } from '../../../texts/agents.ts';
import { Button } from '../../../ui/button.tsx';
import { AnswerForm } from './answer-form.tsx';
import type { Decide } from './decide.ts';

/** What an agent asks its person: the words, answers to choose from, and room for others. */
export function Asked({
  approvalId,
  question: { message, title, options = [] },
  deciding,
  onDecide,
}: {
  approvalId: string;
  question: Question;
  deciding: boolean;
  onDecide: Decide;
}) {
  const name = title ?? texts.asks;
  return (
    <div role="group" aria-label={name} className="flex min-w-0 flex-col gap-2">
      <p className="font-medium break-words" dir="auto">
        {name}
      </p>
      <p className="break-words whitespace-pre-wrap" dir="auto">
        {message}
      </p>
      <Options
        options={options}
        deciding={deciding}
        onChoose={(option) => onDecide(approvalId, true, { answer: option })}
      />
      <AnswerForm
        label={texts.answer}
        action={texts.sendAnswer}
        busy={deciding}
        onSend={(answer) => onDecide(approvalId, true, { answer })}
      >
        <Button small data-act="r" disabled={deciding} onClick={() => onDecide(approvalId, false)}>
          {texts.noAnswer}
        </Button>
      </AnswerForm>
    </div>
  );
}

/** Answers to choose from. */
function Options({
  options,
  deciding,
  onChoose,
}: {
  options: readonly string[];
  deciding: boolean;
  onChoose: (option: string) => void;
}) {
  if (options.length === 0) return null;
  return (
    <div className="flex flex-wrap gap-2">
      {options.map((option) => (
        <Button key={option} small disabled={deciding} onClick={() => onChoose(option)}>
          {option}
        </Button>
      ))}
    </div>
  );
}
