import { useState } from 'react';
import { differences } from '../../../diff.ts';
import { config as texts } from '../../../texts/operate.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Notice } from '../../../ui/card.tsx';
import { DiffView } from '../../../ui/diff-view.tsx';
import { TextArea } from '../../../ui/field.tsx';
import { Segments } from '../../../ui/tabs.tsx';
import { ConfigForm } from './form.tsx';
import type { Config } from './form.tsx';

/** A configuration as a form or as JSON, with what would change before it is saved. */
export function ConfigEditor({
  config,
  busy,
  error,
  onSave,
}: {
  config: Config;
  busy: boolean;
  error: Error | null;
  onSave: (config: Config) => void;
}) {
  const [view, setView] = useState('form');
  const [draft, setDraft] = useState(config);
  const [text, setText] = useState(() => JSON.stringify(config, null, 2));
  const parsed = view === 'json' ? parse(text) : draft;
  const changes = parsed ? differences(config, parsed) : [];
  const change = (next: string) => {
    if (next === 'json') setText(JSON.stringify(draft, null, 2));
    else if (parsed) setDraft(parsed);
    if (next === 'json' || parsed) setView(next);
  };
  return (
    <Card
      title={texts.title}
      actions={
        <Segments
          label={texts.views}
          value={view}
          onChange={change}
          choices={[
            { value: 'form', label: texts.form },
            { value: 'json', label: texts.json },
          ]}
        />
      }
    >
      <form
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          if (parsed) onSave(parsed);
        }}
      >
        {view === 'form' ? (
          <ConfigForm value={draft} onChange={setDraft} />
        ) : (
          <TextArea
            label={texts.json}
            hideLabel
            mono
            rows={24}
            spellCheck={false}
            value={text}
            error={parsed ? null : texts.invalidJson}
            onChange={({ target }) => setText(target.value)}
          />
        )}
        {changes.length > 0 && (
          <details className="rounded-xl bg-sunken px-4 py-3">
            <summary className="cursor-pointer font-medium">
              {texts.unsaved} · {texts.review} ({changes.length})
            </summary>
            <div className="mt-3">
              <DiffView items={changes} before={texts.before} after={texts.now} same={texts.same} />
            </div>
          </details>
        )}
        {error && <Notice tone="danger">{error.message}</Notice>}
        <div>
          <Button kind="primary" type="submit" busy={busy} disabled={!parsed || changes.length === 0}>
            {texts.save}
          </Button>
        </div>
      </form>
    </Card>
  );
}

function parse(text: string): Config | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Config) : undefined;
  } catch {
    return undefined;
  }
}
