import { web } from '@troupe/contract';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import type { ClipboardEvent, KeyboardEvent } from 'react';
import { useCall } from '../../../api.ts';
import { chat as texts } from '../../../texts/agents.ts';
import { commands as words } from '../../../texts/talk.ts';
import { cx } from '../../../ui/cx.ts';
import { TextArea } from '../../../ui/field.tsx';
import { useSettled } from '../../../ui/use-settled.ts';
import { commandOffers, nameOffers, pathTyped, taken, triggerAt } from './commands.ts';
import type { Command, Offer, Trigger } from './commands.ts';

interface Props {
  agentId: string;
  text: string;
  onWrite: (text: string) => void;
  commands: readonly Command[];
  placeholder: string;
  /** Keys that choose nothing. */
  onKey: (event: KeyboardEvent) => void;
  onPaste: (event: ClipboardEvent) => void;
}

/** What is offered for what is typed. An agent without files has none to offer. */
function useOffers(agentId: string, trigger: Trigger | undefined, commands: readonly Command[]): Offer[] {
  const typed = trigger?.typed ?? '';
  const isNaming = trigger?.sign === '@';
  const { folder } = pathTyped(useSettled(typed));
  const params = { id: agentId };
  const own = useCall(web.agents.getPurpose, { params }, { enabled: trigger?.sign === '/' }).data?.commands ?? [];
  const agents = useCall(web.agents.list, {}, { enabled: isNaming }).data?.agents ?? [];
  const query = folder === '' ? {} : { path: folder };
  const listing = useCall(web.files.list, { params, query }, { enabled: isNaming, retry: false });
  if (!trigger) return [];
  if (!isNaming) return commandOffers(typed, commands, own);
  const entries = listing.data && pathTyped(typed).folder === folder ? listing.data.entries : [];
  const others = agents.filter(({ id }) => id !== agentId);
  return nameOffers(typed, others, entries, words.kinds);
}

/** What is typed where, what is offered for it, and which of that is chosen. */
function useMenu({ agentId, text, onWrite, commands }: Props) {
  const field = useRef<HTMLTextAreaElement>(null);
  const [caret, setCaret] = useState(text.length);
  const [at, setAt] = useState(0);
  const [closed, setClosed] = useState<string>();
  const goesOnAt = useRef<number>(undefined);
  const trigger = triggerAt(text, Math.min(caret, text.length));
  const name = trigger && `${trigger.sign}${trigger.from}`;
  const offers = useOffers(agentId, trigger, commands);
  const isOpen = offers.length > 0 && closed !== name;

  // Who has closed it is asked again at the next sign.
  useEffect(() => {
    if (name === undefined) setClosed(undefined);
  }, [name]);
  useEffect(() => setAt(0), [name, trigger?.typed]);
  useLayoutEffect(() => {
    if (goesOnAt.current === undefined) return;
    field.current?.setSelectionRange(goesOnAt.current, goesOnAt.current);
    setCaret(goesOnAt.current);
    goesOnAt.current = undefined;
  }, [text]);

  const choose = (offer: Offer | undefined) => {
    if (!offer || !trigger) return;
    const next = taken(text, caret, trigger, offer.insert);
    goesOnAt.current = next.caret;
    onWrite(next.text);
    field.current?.focus();
    offer.act?.();
  };
  /** True: the key was for the list. */
  const onKey = (event: KeyboardEvent): boolean => {
    if (!isOpen || event.nativeEvent.isComposing) return false;
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) setAt((at + step + offers.length) % offers.length);
    else if (event.key === 'Escape') setClosed(name);
    else if ((event.key === 'Enter' || event.key === 'Tab') && !event.shiftKey && !event.ctrlKey && !event.metaKey)
      choose(offers[at]);
    else return false;
    event.preventDefault();
    // What is open around it stays open.
    event.stopPropagation();
    return true;
  };
  const seen = (element: HTMLTextAreaElement) => {
    field.current = element;
    setCaret(element.selectionStart);
  };
  return { offers, isOpen, at: Math.min(at, offers.length - 1), choose, onKey, seen, setAt };
}

/**
 * The field where one writes, with a list of what `/` and `@` offer. A field of several lines may not call itself a
 * combobox: it says that it completes from a list, which one that is, and which line of it is meant; how many there are is
 * announced.
 */
export function CommandField(props: Props) {
  const { text, onWrite, placeholder, onKey, onPaste } = props;
  const id = useId();
  const menu = useMenu(props);
  const { isOpen, offers, at } = menu;
  return (
    <div className="relative">
      {isOpen && <Offers id={id} {...menu} />}
      <TextArea
        label={texts.message}
        hideLabel
        rows={2}
        dir="auto"
        placeholder={placeholder}
        value={text}
        aria-autocomplete="list"
        aria-controls={isOpen ? id : undefined}
        aria-activedescendant={isOpen ? `${id}-${at}` : undefined}
        onChange={({ target }) => {
          menu.seen(target);
          onWrite(target.value);
        }}
        onSelect={({ currentTarget }) => menu.seen(currentTarget)}
        onKeyDown={(event) => {
          if (!menu.onKey(event)) onKey(event);
        }}
        onPaste={onPaste}
      />
      <p role="status" className="sr-only">
        {isOpen ? words.offered(offers.length) : ''}
      </p>
    </div>
  );
}

function Offers({ id, offers, at, choose, setAt }: { id: string } & ReturnType<typeof useMenu>) {
  return (
    <ul
      id={id}
      role="listbox"
      aria-label={words.title}
      className="absolute inset-x-0 bottom-full z-10 mb-1 max-h-72 overflow-y-auto rounded-xl border border-line bg-surface p-1 shadow-high"
    >
      {offers.map(({ key, label, hint }, index) => (
        // The keys are the field's: it has the focus all the time.
        <li
          key={key}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === at}
          className={cx(
            'flex min-h-9 cursor-pointer items-baseline justify-between gap-4 rounded-lg px-3 py-1.5',
            index === at && 'bg-accent-soft',
          )}
          ref={(element) => {
            if (index === at) element?.scrollIntoView({ block: 'nearest' });
          }}
          onPointerMove={() => setAt(index)}
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => choose(offers[index])}
        >
          <bdi className="min-w-0 truncate font-medium">{label}</bdi>
          <span className="min-w-0 truncate text-[0.87rem] text-ink-soft" dir="auto">
            {hint}
          </span>
        </li>
      ))}
    </ul>
  );
}
