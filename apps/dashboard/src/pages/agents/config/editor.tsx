import { useState } from 'react';
import { differences } from '../../../diff.ts';
import type { Difference } from '../../../diff.ts';
import { config as texts } from '../../../texts/operate.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Notice } from '../../../ui/card.tsx';
import { DiffView } from '../../../ui/diff-view.tsx';
import { TextArea } from '../../../ui/field.tsx';
import { Segments } from '../../../ui/tabs.tsx';
import { configText, parseConfig } from './config-text.ts';
import type { Config } from './config-text.ts';
import { ConfigForm } from './form.tsx';

const VIEWS = [
  { value: 'form', label: texts.form },
  { value: 'json', label: texts.json },
];

/** One draft in two views. A text that is no configuration keeps its view until it is one. */
function useDraft(config: Config) {
  const [view, setView] = useState('form');
  const [draft, setDraft] = useState(config);
  const [text, setText] = useState(() => configText(config));
  const parsed = view === 'json' ? parseConfig(text) : draft;
  const show = (next: string) => {
    if (next === 'json') setText(configText(draft));
    else if (parsed) setDraft(parsed);
    if (next === 'json' || parsed) setView(next);
  };
  return { view, show, draft, setDraft, text, setText, parsed };
}

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
  const { view, show, draft, setDraft, text, setText, parsed } = useDraft(config);
  const changes = parsed ? differences(config, parsed) : [];
  return (
    <Card title={texts.title} actions={<Segments label={texts.views} value={view} onChange={show} choices={VIEWS} />}>
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
        {changes.length > 0 && <Changes items={changes} />}
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

function Changes({ items }: { items: Difference[] }) {
  return (
    <details className="rounded-xl bg-sunken px-4 py-3">
      <summary className="cursor-pointer font-medium">
        {texts.unsaved} · {texts.review} ({items.length})
      </summary>
      <div className="mt-3">
        <DiffView items={items} before={texts.before} after={texts.now} same={texts.same} />
      </div>
    </details>
  );
}
