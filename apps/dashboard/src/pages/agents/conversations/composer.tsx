import { web } from '@troupe/contract';
import type { WebAgent } from '@troupe/contract';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import type { ClipboardEvent, DragEvent, FormEvent, KeyboardEvent, RefObject } from 'react';
import { useCall } from '../../../api.ts';
import { forget, keep, kept } from '../../../keeping.ts';
import { modelName } from '../../../models.ts';
import { chat as texts } from '../../../texts/agents.ts';
import { attach, commands as named, models } from '../../../texts/talk.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { cx } from '../../../ui/cx.ts';
import { isSending } from '../../../ui/keys.ts';
import { AttachedList, useAttached } from './attach.tsx';
import { CommandField } from './command-field.tsx';
import type { Command } from './commands.ts';

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
  /** Which is to answer; undefined: the agent's own. */
  model: string | undefined;
  onModel: (model: string | undefined) => void;
  /** Nothing was said yet: what is typed next is meant for it. */
  isNew: boolean;
  onSend: (written: Written) => void;
  /** Stops what it is at, and says this instead. */
  onInterrupt: (written: Written) => void;
  onStop: () => void;
  /** What else can be done from the field by its name. */
  commands: readonly Command[];
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

/** What can be done from the field by name: what its buttons do, and what the page around it can. */
function useCommands({ works, onStop, commands }: Props, onModel: () => void) {
  const picker = useRef<HTMLInputElement>(null);
  const here: Command[] = [
    { name: 'attach', words: attach.add, act: () => picker.current?.click() },
    { name: 'model', words: named.model, act: onModel },
    ...(works ? [{ name: 'stop', words: named.stop, act: onStop }] : []),
  ];
  return { picker, offered: [...here, ...commands] };
}

/** Whoever comes to an empty conversation types at once; letters must not be keys of the page then. On a phone it waits. */
function useFirstFocus(isNew: boolean) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    const at = document.activeElement;
    const isFree = at === document.body || at?.matches('[data-new-talk]');
    if (isNew && isFree && matchMedia('(pointer: fine)').matches) form.current?.querySelector('textarea')?.focus();
  }, [isNew]);
  return form;
}

/** Where one writes. Files come by button, by dropping them and by pasting them. */
export function Composer(props: Props) {
  const { agent, place, works, model, onSend, onInterrupt, onStop, onEditLast } = props;
  const [text, write] = useDraft(`draft:${agent.id}:${place}`);
  const form = useFirstFocus(props.isNew);
  const [isPicking, setPicking] = useState(false);
  const { picker, offered } = useCommands(props, () => setPicking(true));
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
    if (!isSending(event)) return;
    event.preventDefault();
    submit(undefined, works && (event.ctrlKey || event.metaKey) ? onInterrupt : onSend);
  };
  const placeholder = isOver ? attach.drop : texts.placeholder;
  return (
    <form
      ref={form}
      onSubmit={submit}
      {...zone}
      className={cx('relative rounded-xl', isOver && 'outline-2 outline-offset-4 outline-accent outline-dashed')}
    >
      <AttachedList attaching={attaching} />
      <CommandField
        agentId={agent.id}
        text={text}
        onWrite={write}
        commands={offered}
        {...{ placeholder, onKey, onPaste }}
      />
      <div className="mt-2 flex items-center gap-2">
        <PickFiles picker={picker} onPick={attaching.add} />
        <ModelButton agent={agent} value={model} onChoose={props.onModel} isOpen={isPicking} onOpen={setPicking} />
        <span className="ms-auto flex shrink-0 gap-2">
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

function PickFiles({
  picker,
  onPick,
}: {
  picker: RefObject<HTMLInputElement | null>;
  onPick: (files: File[]) => void;
}) {
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
  isOpen,
  onOpen,
}: {
  agent: WebAgent;
  value: string | undefined;
  onChoose: (model: string | undefined) => void;
  isOpen: boolean;
  onOpen: (open: boolean) => void;
}) {
  const offered = useCall(web.models.list, {}, { enabled: isOpen }).data;
  const own = modelName(agent.answers);
  const shown = value === undefined ? own : modelName(value);
  return (
    <>
      <Button kind="quiet" small className="min-w-0" aria-label={models.current(shown)} onClick={() => onOpen(true)}>
        <span className="max-w-[11rem] min-w-0 truncate">{shown}</span>
        <span aria-hidden="true">▾</span>
      </Button>
      {isOpen && (
        <Suspense>
          <ModelDialog
            offered={offered}
            value={value}
            own={own}
            onClose={() => onOpen(false)}
            onChoose={(model) => {
              onChoose(model);
              onOpen(false);
            }}
          />
        </Suspense>
      )}
    </>
  );
}
