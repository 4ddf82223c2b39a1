import { TAG_LENGTH, web } from '@troupe/contract';
import type { WebAgent } from '@troupe/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call, carefully, stale } from '../../../api.ts';
import { isTooFast, retryDelay } from '../../../retrying.ts';
import { bulk as texts } from '../../../texts/agents.ts';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/card.tsx';
import { Confirm, Dialog, DialogEnd } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { download, withTag } from './tags.ts';

const TRIES = 3;

/** Whoever has many agents is faster than the platform allows: it goes on when it may. */
async function inTime(act: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await act();
      return;
    } catch (error) {
      if (tries === TRIES || !isTooFast(error as Error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, retryDelay(tries, error as Error)));
    }
  }
}

/** What is done to one agent after the other; those that could not be done are named. */
function useEach(chosen: readonly WebAgent[]) {
  const queries = useQueryClient();
  const [busy, setBusy] = useState('');
  const [failed, setFailed] = useState<string[]>([]);
  const each = async (name: string, act: (agent: WebAgent) => Promise<unknown>): Promise<boolean> => {
    setBusy(name);
    const wrong: string[] = [];
    for (const agent of chosen) {
      try {
        await inTime(() => act(agent));
      } catch (error) {
        wrong.push(texts.failed(agent.name, (error as Error).message));
      }
    }
    setFailed(wrong);
    setBusy('');
    await stale(queries, web.agents.list, web.agents.get);
    return wrong.length === 0;
  };
  return { each, busy, failed };
}

/** Reads what each of them is; the file is written when the last one was read. */
function exporting(count: number) {
  const all: object[] = [];
  return async ({ id, name, model, tags }: WebAgent) => {
    const params = { id };
    const [purpose, { config }] = await Promise.all([
      call(web.agents.getPurpose, { params }),
      call(web.agents.getConfig, { params }),
    ]);
    all.push({ name, model, tags, instruction: purpose.instruction, tools: purpose.tools, config });
    if (all.length === count) download('agents.json', { agents: all });
  };
}

/** Above the list, as long as agents are chosen in it. */
export function BulkBar({ chosen, onDone }: { chosen: readonly WebAgent[]; onDone: () => void }) {
  const { each, busy, failed } = useEach(chosen);
  const [asking, setAsking] = useState<'tag' | 'delete'>();
  const say = useSay();
  const run = async (name: string, act: (agent: WebAgent) => Promise<unknown>) => {
    if (!(await each(name, act))) return;
    say(texts.done(name, chosen.length));
    setAsking(undefined);
    onDone();
  };
  const change = (action: 'start' | 'stop') => () =>
    void run(texts[action], ({ id }) => call(web.instance.act, { params: { userId: id, action }, body: {} }));
  const tag = (word: string) =>
    void run(texts.tag, ({ id, tags }) =>
      call(web.agents.tag, { params: { id }, body: { tags: withTag(tags, word) } }),
    );
  const save = () => void run(texts.export, exporting(chosen.length));
  const button = (label: string, onClick: () => void, kind?: 'danger' | 'quiet') => (
    <Button small kind={kind} busy={busy === label} disabled={busy !== ''} onClick={onClick}>
      {label}
    </Button>
  );
  return (
    <div role="region" aria-label={texts.title} className="flex flex-col gap-3 px-5 pb-3">
      <div className="flex flex-wrap items-center gap-2">
        <strong className="mr-2" aria-live="polite">
          {texts.chosen(chosen.length)}
        </strong>
        {button(texts.start, change('start'))}
        {button(texts.stop, change('stop'))}
        {button(texts.tag, () => setAsking('tag'))}
        {button(texts.export, save)}
        {button(texts.delete, () => setAsking('delete'), 'danger')}
        {button(texts.clear, onDone, 'quiet')}
      </div>
      {failed.length > 0 && <Notice tone="danger">{failed.join(' ')}</Notice>}
      {asking === 'tag' && <TagDialog busy={busy !== ''} onClose={() => setAsking(undefined)} onTag={tag} />}
      <Confirm
        open={asking === 'delete'}
        onClose={() => setAsking(undefined)}
        title={texts.deleteTitle(chosen.length)}
        losses={
          <>
            <p className="max-h-40 overflow-y-auto wrap-anywhere">{chosen.map(({ name }) => name).join(', ')}</p>
            <p>{texts.deleteLoss}</p>
          </>
        }
        action={texts.delete}
        word={String(chosen.length)}
        busy={busy === texts.delete}
        onConfirm={() => void run(texts.delete, ({ id }) => carefully(web.agents.remove, { params: { id } }))}
      />
    </div>
  );
}

function TagDialog({ busy, onClose, onTag }: { busy: boolean; onClose: () => void; onTag: (word: string) => void }) {
  const [word, setWord] = useState('');
  return (
    <Dialog open onClose={onClose} title={texts.tagTitle} hint={texts.tagHint}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          onTag(word);
        }}
      >
        <TextField
          label={texts.tagLabel}
          required
          autoFocus
          maxLength={TAG_LENGTH}
          value={word}
          onChange={({ target }) => setWord(target.value)}
        />
        <DialogEnd send={{ error: null, isPending: busy }} onClose={onClose} action={texts.tag} />
      </form>
    </Dialog>
  );
}
