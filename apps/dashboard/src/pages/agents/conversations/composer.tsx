import { useState } from 'react';
import type { FormEvent, KeyboardEvent } from 'react';
import { forget, keep, kept } from '../../../keeping.ts';
import { chat as texts } from '../../../texts/agents.ts';
import { Button } from '../../../ui/button.tsx';
import { TextArea } from '../../../ui/field.tsx';

const keyOf = (agentId: string) => `draft:${agentId}`;

/** Where one writes. The draft is kept at every key, and outlives the page. */
export function Composer({
  agentId,
  works,
  onSend,
  onStop,
}: {
  agentId: string;
  works: boolean;
  onSend: (message: string) => void;
  onStop: () => void;
}) {
  const [text, setText] = useState(() => String(kept(keyOf(agentId)) ?? ''));
  const write = (next: string) => {
    setText(next);
    if (next === '') forget(keyOf(agentId));
    else keep(keyOf(agentId), next);
  };
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (!text.trim()) return;
    onSend(text.trim());
    write('');
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };
  return (
    <form onSubmit={submit} className="flex items-end gap-2">
      <div className="min-w-0 flex-1">
        <TextArea
          label={texts.message}
          hideLabel
          rows={2}
          dir="auto"
          placeholder={texts.placeholder}
          value={text}
          onChange={({ target }) => write(target.value)}
          onKeyDown={onKey}
        />
      </div>
      <div className="flex flex-col gap-2 sm:flex-row">
        {works && (
          <Button icon="stop" onClick={onStop}>
            {texts.stop}
          </Button>
        )}
        <Button kind="primary" type="submit" icon="send">
          {texts.send}
        </Button>
      </div>
    </form>
  );
}
