import { ANSWER_LENGTH } from '@troupe/contract';
import type { Question } from '@troupe/contract';
import { useState } from 'react';
import { chat as texts } from '../../../texts/agents.ts';
import { Button } from '../../../ui/button.tsx';
import { TextArea } from '../../../ui/field.tsx';
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
  const [answer, setAnswer] = useState('');
  const name = title ?? texts.asks;
  return (
    <div role="group" aria-label={name}>
      <form
        className="flex min-w-0 flex-col gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          onDecide(approvalId, true, { answer });
        }}
      >
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
        <TextArea
          label={texts.answer}
          rows={2}
          required
          maxLength={ANSWER_LENGTH}
          value={answer}
          onChange={({ target }) => setAnswer(target.value)}
        />
        <div className="flex flex-wrap gap-2">
          <Button small kind="primary" type="submit" disabled={deciding}>
            {texts.sendAnswer}
          </Button>
          <Button small data-act="r" disabled={deciding} onClick={() => onDecide(approvalId, false)}>
            {texts.noAnswer}
          </Button>
        </div>
      </form>
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
