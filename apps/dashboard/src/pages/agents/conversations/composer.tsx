import { web } from '@troupe/contract';
import type { WebAgent } from '@troupe/contract';
import { lazy, Suspense, useRef, useState } from 'react';
import type { ClipboardEvent, DragEvent, FormEvent, KeyboardEvent } from 'react';
import { useCall } from '../../../api.ts';
import { forget, keep, kept } from '../../../keeping.ts';
import { modelName } from '../../../models.ts';
import { chat as texts } from '../../../texts/agents.ts';
import { attach, models } from '../../../texts/talk.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { cx } from '../../../ui/cx.ts';
import { TextArea } from '../../../ui/field.tsx';
import { AttachedList, useAttached } from './attach.tsx';

const ModelDialog = lazy(() => import('../model-picker.tsx').then((page) => ({ default: page.ModelDialog })));

export interface Written {
  text: string;
  attachments: string[];
  model?: string;
}

interface Props {
  agent: WebAgent;
  /** Names the conversation: each has a draft of its own. */
  place: string;
  works: boolean;
  onSend: (written: Written) => void;
  /** Stops what it is at, and says this instead. */
  onInterrupt: (written: Written) => void;
  onStop: () => void;
  /** The arrow up in an empty field: the last message again. */
  onEditLast: () => void;
}

/** What is kept of a draft, at every key: it outlives the page. */
function useDraft(key: string): [string, (text: string) => void] {
  const [text, setText] = useState(() => String(kept(key) ?? ''));
  const write = (next: string) => {
    setText(next);
    if (next === '') forget(key);
    else keep(key, next);
  };
  return [text, write];
}

/** The model for what is written next; it is kept until another one is chosen. */
function useModel(agentId: string): [string | undefined, (model: string | undefined) => void] {
  const key = `model:${agentId}`;
  const [model, setModel] = useState<string | undefined>(() => kept(key) as string | undefined);
  const choose = (next: string | undefined) => {
    setModel(next);
    if (next === undefined) forget(key);
    else keep(key, next);
  };
  return [model, choose];
}

/** Files that are dropped or pasted. */
function useDropped(add: (files: File[]) => void) {
  const [isOver, setOver] = useState(false);
  const take = (event: DragEvent | ClipboardEvent, files: FileList) => {
    if (files.length === 0) return;
    event.preventDefault();
    add([...files]);
  };
  return {
    isOver,
    onPaste: (event: ClipboardEvent) => take(event, event.clipboardData.files),
    zone: {
      onDragOver: (event: DragEvent) => {
        if (!event.dataTransfer.types.includes('Files')) return;
        event.preventDefault();
        setOver(true);
      },
      onDragLeave: () => setOver(false),
      onDrop: (event: DragEvent) => {
        setOver(false);
        take(event, event.dataTransfer.files);
      },
    },
  };
}

/** Where one writes. Files come by button, by dropping them and by pasting them. */
export function Composer({ agent, place, works, onSend, onInterrupt, onStop, onEditLast }: Props) {
  const [text, write] = useDraft(`draft:${agent.id}:${place}`);
  const [model, setModel] = useModel(agent.id);
  const attaching = useAttached(agent.id, place);
  const { isOver, onPaste, zone } = useDropped(attaching.add);
  const isReady = (text.trim() !== '' || attaching.paths.length > 0) && !attaching.isBusy;
  const submit = (event?: FormEvent, send = onSend) => {
    event?.preventDefault();
    if (!isReady) return;
    send({ text: text.trim(), attachments: attaching.paths, ...(model !== undefined && { model }) });
    write('');
    attaching.clear();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'ArrowUp' && text === '') return onEditLast();
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit(undefined, works && (event.ctrlKey || event.metaKey) ? onInterrupt : onSend);
  };
  return (
    <form
      onSubmit={submit}
      {...zone}
      className={cx('relative rounded-xl', isOver && 'outline-2 outline-offset-4 outline-accent outline-dashed')}
    >
      <AttachedList attaching={attaching} />
      <TextArea
        label={texts.message}
        hideLabel
        rows={2}
        dir="auto"
        placeholder={isOver ? attach.drop : texts.placeholder}
        value={text}
        onChange={({ target }) => write(target.value)}
        onKeyDown={onKey}
        onPaste={onPaste}
      />
      <div className="mt-2 flex flex-wrap items-center gap-2">
        <PickFiles onPick={attaching.add} />
        <ModelButton agent={agent} value={model} onChoose={setModel} />
        <span className="ml-auto flex gap-2">
          {works && (
            <Button icon="stop" onClick={onStop}>
              {texts.stop}
            </Button>
          )}
          <Button kind="primary" type="submit" icon="send" busy={attaching.isBusy}>
            {texts.send}
          </Button>
        </span>
      </div>
    </form>
  );
}

function PickFiles({ onPick }: { onPick: (files: File[]) => void }) {
  const picker = useRef<HTMLInputElement>(null);
  return (
    <>
      <IconButton icon="clip" label={attach.add} onClick={() => picker.current?.click()} />
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label={attach.pick}
        onChange={({ target }) => {
          onPick([...(target.files ?? [])]);
          target.value = '';
        }}
      />
    </>
  );
}

function ModelButton({
  agent,
  value,
  onChoose,
}: {
  agent: WebAgent;
  value: string | undefined;
  onChoose: (model: string | undefined) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const offered = useCall(web.models.list, {}, { enabled: isOpen }).data;
  const own = modelName(agent.answers);
  const shown = value === undefined ? own : modelName(value);
  return (
    <>
      <Button kind="quiet" small className="min-w-0" aria-label={models.current(shown)} onClick={() => setOpen(true)}>
        <span className="max-w-[11rem] truncate">{shown}</span>
        <span aria-hidden="true">▾</span>
      </Button>
      {isOpen && (
        <Suspense>
          <ModelDialog
            offered={offered}
            value={value}
            own={own}
            onClose={() => setOpen(false)}
            onChoose={(model) => {
              onChoose(model);
              setOpen(false);
            }}
          />
        </Suspense>
      )}
    </>
  );
}
