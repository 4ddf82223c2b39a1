import { AlertDialog } from '@base-ui/react/alert-dialog';
import { Dialog as Base } from '@base-ui/react/dialog';
import { useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { states } from '../texts/common.ts';
import { Button, IconButton } from './button.tsx';
import { Notice } from './card.tsx';
import { cx } from './cx.ts';
import { TextField } from './field.tsx';
import { Refused } from './form.tsx';

const backdrop =
  'fixed inset-0 z-40 bg-[rgb(20_16_10/0.55)] transition-opacity data-[starting-style]:opacity-0 data-[ending-style]:opacity-0';
const popup =
  'fixed z-50 bg-surface text-ink border border-line shadow-high outline-none transition data-[starting-style]:opacity-0 data-[starting-style]:translate-y-2 data-[ending-style]:opacity-0';
const centred = 'inset-x-3 top-[8dvh] mx-auto max-h-[84dvh] w-auto overflow-y-auto rounded-2xl p-5 sm:p-6';

/** Who opens a form wants to type. */
const firstField = (box: HTMLElement | null) => box?.querySelector<HTMLElement>('input, select, textarea') ?? true;

export function Dialog({
  open,
  onClose,
  title,
  hint,
  wide,
  children,
}: {
  open: boolean;
  onClose: () => void;
  title: string;
  hint?: ReactNode;
  wide?: boolean;
  children: ReactNode;
}) {
  const box = useRef<HTMLDivElement>(null);
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={backdrop} />
        <Base.Popup
          ref={box}
          initialFocus={() => firstField(box.current)}
          className={cx(popup, centred, wide ? 'max-w-3xl' : 'max-w-lg')}
        >
          <div className="mb-4 flex items-start justify-between gap-4">
            <div className="min-w-0">
              <Base.Title className="text-[1.3rem] leading-snug font-semibold">{title}</Base.Title>
              {hint && <Base.Description className="mt-1 text-ink-soft">{hint}</Base.Description>}
            </div>
            <Base.Close render={<IconButton icon="close" label={states.close} className="-mt-1 -mr-2" />} />
          </div>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

/** The end of a form in a dialog: what went wrong, and the way out or through. */
export function DialogEnd({
  send,
  onClose,
  action = states.save,
  leave = states.cancel,
  disabled,
}: {
  send: { error: Error | null; isPending: boolean };
  onClose: () => void;
  action?: string;
  /** What the way out is called, where nothing is given up by it. */
  leave?: string;
  disabled?: boolean;
}) {
  return (
    <>
      <Refused error={send.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{leave}</Button>
        <Button kind="primary" type="submit" busy={send.isPending} disabled={disabled}>
          {action}
        </Button>
      </div>
    </>
  );
}

interface ConfirmProps {
  open: boolean;
  onClose: () => void;
  title: string;
  /** What will be lost or happen, said plainly. */
  losses: ReactNode;
  action: string;
  onConfirm: () => void;
  busy?: boolean;
  error?: Error | null;
  /** A word to type first, for what cannot be undone. */
  word?: string;
  harmless?: boolean;
}

/** Asks before something that cannot be undone, and says what it does. */
export function Confirm({
  open,
  onClose,
  title,
  losses,
  action,
  onConfirm,
  busy,
  error,
  word,
  harmless,
}: ConfirmProps) {
  const [typed, setTyped] = useState('');
  const close = () => {
    setTyped('');
    onClose();
  };
  return (
    <AlertDialog.Root open={open} onOpenChange={(next) => !next && close()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className={backdrop} />
        <AlertDialog.Popup className={cx(popup, centred, 'max-w-lg')}>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              if (!word || typed === word) onConfirm();
            }}
            className="flex flex-col gap-4"
          >
            <AlertDialog.Title className="text-[1.3rem] leading-snug font-semibold">{title}</AlertDialog.Title>
            <AlertDialog.Description render={<div />} className="flex flex-col gap-2 text-ink-soft">
              {losses}
            </AlertDialog.Description>
            {word && (
              <TextField
                label={states.typeToConfirm(word)}
                value={typed}
                onChange={({ target }) => setTyped(target.value)}
                autoComplete="off"
              />
            )}
            {error && <Notice tone="danger">{error.message}</Notice>}
            <div className="flex flex-wrap justify-end gap-2">
              <Button onClick={close}>{states.cancel}</Button>
              <Button
                kind={harmless ? 'primary' : 'danger'}
                type="submit"
                busy={busy}
                disabled={word !== undefined && typed !== word}
              >
                {action}
              </Button>
            </div>
          </form>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

/** A panel from the side, for the phone's navigation. */
export function Drawer({
  open,
  onClose,
  title,
  children,
}: {
  open: boolean;
  onClose: () => void;
  title: string;
  children: ReactNode;
}) {
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={backdrop} />
        <Base.Popup className={cx(popup, 'inset-y-0 left-0 w-[min(20rem,86vw)] overflow-y-auto')}>
          <Base.Title className="sr-only">{title}</Base.Title>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
