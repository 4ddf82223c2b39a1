import { SENTENCE_LENGTH } from '@troupe/contract';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { keep } from '../../../keeping.ts';
import { say as texts } from '../../../texts/say.ts';
import { Button } from '../../../ui/button.tsx';
import { TextField } from '../../../ui/field.tsx';
import { DRAFT } from './draft.ts';

/** A line for a sentence, which is read on its own page. */
export function SayBar() {
  const navigate = useNavigate();
  const [sentence, setSentence] = useState('');
  return (
    <form
      className="flex items-start gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (sentence.trim() === '') return;
        keep(DRAFT, { sentence, isAsked: true });
        void navigate({ to: '/dashboard/say' });
      }}
    >
      <div className="min-w-0 flex-1">
        <TextField
          label={texts.bar}
          hideLabel
          placeholder={`${texts.bar}…`}
          maxLength={SENTENCE_LENGTH}
          dir="auto"
          value={sentence}
          onChange={({ target }) => setSentence(target.value)}
        />
      </div>
      <Button kind="primary" type="submit" icon="arrow" aria-label={texts.read} />
    </form>
  );
}
