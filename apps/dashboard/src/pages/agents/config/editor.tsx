import { changedFields, differences } from '../../../diff.ts';
import type { Difference } from '../../../diff.ts';
import { config as texts } from '../../../texts/operate.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Notice } from '../../../ui/card.tsx';
import { DiffView } from '../../../ui/diff-view.tsx';
import { TextArea } from '../../../ui/field.tsx';
import { Segments } from '../../../ui/tabs.tsx';
import { LeftOff } from '../../../ui/use-unsaved.tsx';
import type { Config } from './config-text.ts';
import { ConfigForm } from './form.tsx';
import { useConfigDraft } from './use-config-draft.ts';
import type { View } from './use-config-draft.ts';

const VIEWS = [
  { value: 'form', label: texts.form },
  { value: 'json', label: texts.json },
];

/** A configuration as a form or as JSON, with what would change before it is saved. */
export function ConfigEditor({
  name,
  config,
  saved = 0,
  busy,
  error,
  onSave,
}: {
  /** What is not saved is kept under it. */
  name: string;
  config: Config;
  /** Another one each time it was saved. */
  saved?: number;
  busy: boolean;
  error: Error | null;
  /** `changed`: of each section only what differs. */
  onSave: (config: Config, changed: Config) => void;
}) {
  const edited = useConfigDraft(name, config, saved);
  const { base, view, draft, text, parsed, revision } = edited;
  const changes = parsed ? differences(base, parsed) : [];
  const show = (next: string) => edited.show(next as View);
  return (
    <Card title={texts.title} actions={<Segments label={texts.views} value={view} onChange={show} choices={VIEWS} />}>
      <form
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          if (parsed) onSave(parsed, changedFields(base, parsed));
        }}
      >
        <LeftOff of={edited} />
        {view === 'form' ? (
          <ConfigForm key={revision} value={draft} onChange={edited.setDraft} />
        ) : (
          <TextArea
            label={texts.json}
            hideLabel
            mono
            rows={24}
            spellCheck={false}
            value={text}
            error={parsed ? null : texts.invalidJson}
            onChange={({ target }) => edited.setText(target.value)}
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
