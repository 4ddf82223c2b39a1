import { DEMO_LENGTH, web } from '@troupe/contract';
import { useState } from 'react';
import { statusOf, useCall, useSend } from '../../api.ts';
import { demo as texts } from '../../texts/public.ts';
import { Button, Spinner } from '../../ui/button.tsx';
import { Card, Notice } from '../../ui/card.tsx';
import { cx } from '../../ui/cx.ts';
import { SelectField, TextField } from '../../ui/field.tsx';
import { Markdown } from '../../ui/markdown.tsx';
import { saidBefore } from './demo-lines.ts';
import type { Line } from './demo-lines.ts';

/** What was said so far, and saying more. */
function useTalk() {
  const [lines, setLines] = useState<Line[]>([]);
  const send = useSend(web.demo.chat, {
    done: ({ message, model }) => setLines((old) => [...old, { mine: false, text: message, model }]),
  });
  /** Whether it was said: not while an answer is awaited. */
  const say = (message: string, model: string): boolean => {
    if (!message || send.isPending) return false;
    setLines((old) => [...old, { mine: true, text: message }]);
    send.mutate({ body: { message, conversation: saidBefore(lines), ...(model && { model }) } });
    return true;
  };
  return { lines, say, send };
}

/** The public chat: what it says comes from a model, or it says that there is none. */
export function DemoChat() {
  const { lines, say, send } = useTalk();
  const [model, setModel] = useState('');
  return (
    <Card title={texts.title} hint={texts.hint} className="self-start">
      <div className="flex flex-col gap-4">
        <div
          role="log"
          aria-label={texts.title}
          tabIndex={0}
          className="flex max-h-96 min-h-56 flex-col gap-3 overflow-y-auto rounded-xl bg-sunken p-4"
        >
          {lines.length === 0 && <Suggestions say={(suggestion) => say(suggestion, model)} />}
          {lines.map((line, index) => (
            <Said key={index} line={line} />
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
        <Ask busy={send.isPending} model={model} setModel={setModel} say={(message) => say(message, model)} />
      </div>
    </Card>
  );
}

function Suggestions({ say }: { say: (suggestion: string) => void }) {
  return (
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
  );
}

function Said({ line: { mine, text, model } }: { line: Line }) {
  return (
    <div className={cx('flex max-w-[92%] flex-col gap-1', mine ? 'self-end' : 'self-start')}>
      <div
        className={cx(
          'rounded-2xl px-4 py-2 break-words',
          mine ? 'rounded-br-sm bg-accent whitespace-pre-wrap text-on-accent' : 'rounded-bl-sm bg-surface',
        )}
      >
        {mine ? text : <Markdown text={text} />}
      </div>
      {model && <p className="text-[0.78rem] text-ink-faint">{texts.by(model)}</p>}
    </div>
  );
}

function Ask({
  busy,
  model,
  setModel,
  say,
}: {
  busy: boolean;
  model: string;
  setModel: (model: string) => void;
  say: (message: string) => boolean;
}) {
  const models = useCall(web.demo.get, {}).data?.models ?? [];
  const [text, setText] = useState('');
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (say(text.trim())) setText('');
      }}
    >
      {models.length > 0 && (
        <SelectField
          label={texts.model}
          value={model}
          onChange={({ target }) => setModel(target.value)}
          choices={models.map(({ id, name }) => ({ value: id, label: name }))}
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
        <Button kind="primary" type="submit" icon="send" busy={busy}>
          {texts.send}
        </Button>
      </div>
    </form>
  );
}
