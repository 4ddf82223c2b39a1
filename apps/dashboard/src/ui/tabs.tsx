import { Tabs as Base } from '@base-ui/react/tabs';
import { Suspense, type ReactNode } from 'react';
import { Lines } from './states.tsx';

export interface Tab {
  key: string;
  label: string;
  content: () => ReactNode;
}

/** The chosen tab belongs to the caller, who keeps it in the address so that a link leads back to it. */
export function Tabs({
  tabs,
  value,
  onChange,
  label,
}: {
  tabs: Tab[];
  value: string;
  onChange: (key: string) => void;
  label: string;
}) {
  const current = tabs.some(({ key }) => key === value) ? value : tabs[0]!.key;
  return (
    <Base.Root value={current} onValueChange={(next) => onChange(String(next))} className="flex min-w-0 flex-col gap-5">
      <Base.List
        aria-label={label}
        className="flex gap-1 overflow-x-auto border-b border-line [scrollbar-width:none]"
        activateOnFocus={false}
      >
        {tabs.map(({ key, label: text }) => (
          <Base.Tab
            key={key}
            value={key}
            className="-mb-px border-b-2 border-transparent px-3 py-2 whitespace-nowrap text-ink-soft hover:text-ink focus-visible:-outline-offset-2 data-[active]:border-accent data-[active]:font-semibold data-[active]:text-ink"
          >
            {text}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map(({ key, content }) => (
        <Base.Panel key={key} value={key} className="min-w-0 rounded-lg focus-visible:outline-offset-4">
          <Suspense fallback={<Lines rows={6} />}>{key === current && content()}</Suspense>
        </Base.Panel>
      ))}
    </Base.Root>
  );
}

/** Two to five choices side by side: periods, views. */
export function Segments({
  label,
  choices,
  value,
  onChange,
}: {
  label: string;
  choices: { value: string; label: string }[];
  value: string;
  onChange: (value: string) => void;
}) {
  return (
    <div role="group" aria-label={label} className="inline-flex rounded-lg border border-line bg-sunken p-0.5">
      {choices.map((choice) => (
        <button
          key={choice.value}
          type="button"
          aria-pressed={choice.value === value}
          onClick={() => onChange(choice.value)}
          className="min-h-8 rounded-md px-3 text-[0.9rem] whitespace-nowrap text-ink-soft aria-pressed:bg-surface aria-pressed:font-semibold aria-pressed:text-ink aria-pressed:shadow-low"
        >
          {choice.label}
        </button>
      ))}
    </div>
  );
}
