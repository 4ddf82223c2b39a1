import { DEMO_LENGTH, web } from '@troupe/contract';
import { useState } from 'react';
import type { FormEvent } from 'react';
import { statusOf, useCall, useSend } from '../../api.ts';
import { demo as texts } from '../../texts/public.ts';
import { Button, Spinner } from '../../ui/button.tsx';
import { Card, Notice } from '../../ui/card.tsx';
import { cx } from '../../ui/cx.ts';
import { SelectField, TextField } from '../../ui/field.tsx';
import { Markdown } from '../../ui/markdown.tsx';

interface Line {
  mine: boolean;
  text: string;
  model?: string;
}

/** The public chat: what it says comes from a model, or it says that there is none. */
export function DemoChat() {
  const info = useCall(web.demo.get, {});
  const [lines, setLines] = useState<Line[]>([]);
  const [text, setText] = useState('');
  const [model, setModel] = useState('');
  const send = useSend(web.demo.chat, {
    done: ({ message, model: by }) => setLines((old) => [...old, { mine: false, text: message, model: by }]),
  });
  const say = (message: string) => {
    if (!message || send.isPending) return;
    const conversation = lines
      .filter(({ mine }) => mine)
      .map((line) => ({ role: 'user' as const, content: line.text }));
    setLines((old) => [...old, { mine: true, text: message }]);
    setText('');
    send.mutate({ body: { message, conversation, ...(model && { model }) } });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    say(text.trim());
  };
  return (
    <Card title={texts.title} hint={texts.hint} className="self-start">
      <div className="flex flex-col gap-4">
        <div
          role="log"
          aria-label={texts.title}
          tabIndex={0}
          className="flex max-h-96 min-h-56 flex-col gap-3 overflow-y-auto rounded-xl bg-sunken p-4"
        >
          {lines.length === 0 && (
            <div className="my-auto flex flex-col items-start gap-2">
              <p className="text-ink-soft">{texts.intro}</p>
              {texts.suggestions.map((suggestion) => (
                <Button
                  key={suggestion}
                  small
                  className="h-auto py-1 text-left whitespace-normal!"
                  onClick={() => say(suggestion)}
                >
                  {suggestion}
                </Button>
              ))}
            </div>
          )}
          {lines.map((line, index) => (
            <div key={index} className={cx('flex max-w-[92%] flex-col gap-1', line.mine ? 'self-end' : 'self-start')}>
              <div
                className={cx(
                  'rounded-2xl px-4 py-2 break-words',
                  line.mine ? 'rounded-br-sm bg-accent whitespace-pre-wrap text-on-accent' : 'rounded-bl-sm bg-surface',
                )}
              >
                {line.mine ? line.text : <Markdown text={line.text} />}
              </div>
              {line.model && <p className="text-[0.78rem] text-ink-faint">{texts.by(line.model)}</p>}
            </div>
          ))}
          {send.isPending && (
            <p className="flex items-center gap-2 text-ink-soft">
              <Spinner /> {texts.thinking}
            </p>
          )}
        </div>
        {send.error && (
          <Notice tone="spot">{statusOf(send.error) === 503 ? texts.unavailable : send.error.message}</Notice>
        )}
        <form onSubmit={submit} className="flex flex-col gap-3">
          {info.data && info.data.models.length > 0 && (
            <SelectField
              label={texts.model}
              value={model}
              onChange={({ target }) => setModel(target.value)}
              choices={info.data.models.map(({ id, name }) => ({ value: id, label: name }))}
            />
          )}
          <div className="flex items-end gap-2">
            <div className="min-w-0 flex-1">
              <TextField
                label={texts.message}
                placeholder={texts.placeholder}
                maxLength={DEMO_LENGTH}
                value={text}
                onChange={({ target }) => setText(target.value)}
              />
            </div>
            <Button kind="primary" type="submit" icon="send" busy={send.isPending}>
              {texts.send}
            </Button>
          </div>
        </form>
      </div>
    </Card>
  );
}
