import { useState } from 'react';
import { keys as texts } from '../texts/shell.ts';
import { Dialog } from '../ui/dialog.tsx';
import { CheckField } from '../ui/field.tsx';
import { areKeysOn, switchKeys } from '../ui/keys.ts';

/** All keys, and the switch for those of one letter: who dictates or has a shaky hand wants none of them. */
export default function KeysDialog({ onClose }: { onClose: () => void }) {
  const [isOn, setOn] = useState(areKeysOn);
  return (
    <Dialog open onClose={onClose} title={texts.title} wide>
      <CheckField
        label={texts.single}
        hint={texts.singleHint}
        checked={isOn}
        onChange={({ target }) => {
          switchKeys(target.checked);
          setOn(target.checked);
        }}
      />
      <div className="mt-5 grid gap-x-8 gap-y-5 sm:grid-cols-2">
        {texts.groups.map(({ name, lines }) => (
          <section key={name} aria-label={name}>
            <h3 className="mb-1.5 font-sans text-[0.95rem] font-semibold">{name}</h3>
            <dl className="flex flex-col gap-1">
              {lines.map(([key, what]) => (
                <div key={key} className="flex items-baseline justify-between gap-4">
                  <dd className="min-w-0 text-ink-soft">{what}</dd>
                  <dt className="order-last shrink-0">
                    <kbd className="rounded-md border border-line bg-sunken px-1.5 py-0.5 font-mono text-[0.82rem]">
                      {key}
                    </kbd>
                  </dt>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
