import { Toast } from '@base-ui/react/toast';
import type { ReactNode } from 'react';
import { states } from '../texts/common.ts';
import { IconButton } from './button.tsx';
import { cx } from './cx.ts';

export function Toasts({ children }: { children: ReactNode }) {
  return (
    <Toast.Provider timeout={5000}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className="fixed right-3 bottom-20 z-60 flex w-[min(24rem,calc(100vw-1.5rem))] flex-col gap-2 md:bottom-4">
          <List />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function List() {
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root
      key={toast.id}
      toast={toast}
      data-news
      className={cx(
        'flex items-start justify-between gap-2 rounded-xl border bg-surface py-2 pr-1 pl-4 shadow-high transition data-[ending-style]:opacity-0 data-[starting-style]:opacity-0',
        toast.type === 'error' ? 'border-danger text-danger' : 'border-line',
      )}
    >
      <div className="min-w-0 py-1.5">
        <Toast.Title className="font-sans font-medium break-words" />
        <Toast.Description className="text-[0.9rem] break-words text-ink-soft" />
      </div>
      <Toast.Close render={<IconButton icon="close" label={states.close} />} />
    </Toast.Root>
  ));
}

/** `say('Saved')`, `say.error(error)`: short news that needs no answer. */
export function useSay() {
  const { add } = Toast.useToastManager();
  return Object.assign((title: string, description?: string) => void add({ title, description }), {
    error: (error: Error) =>
      void add({ title: states.failed, description: error.message, type: 'error', priority: 'high', timeout: 10_000 }),
  });
}
