import type { web, TypesOf } from '@troupe/contract';
import { SANDBOX_MODEL } from '@troupe/domain';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useId, useState } from 'react';
import { money, short } from '../../format.ts';
import { modelName } from '../../models.ts';
import { create as texts } from '../../texts/agents.ts';
import { models as words } from '../../texts/talk.ts';
import { useSession } from '../../session.ts';
import { Notice } from '../../ui/card.tsx';
import { Icon } from '../../ui/icons.tsx';

const ModelDialog = lazy(() => import('./model-picker.tsx').then((page) => ({ default: page.ModelDialog })));

type Offered = TypesOf<typeof web.models.list>['reply'];

/** What one costs and can, in a line. */
function factsOf({ inputCost, outputCost, contextWindow, sees }: Offered['models'][number]): string {
  const facts = [
    texts.modelHint(money(inputCost), money(outputCost)),
    ...(contextWindow > 0 ? [`${words.context(short(contextWindow))}.`] : []),
    ...(sees ? [`${words.canSee}.`] : []),
  ];
  return facts.join(' ');
}

/** Who can change it is led there. */
function SandboxOnly() {
  const { user } = useSession();
  return (
    <Notice>
      {texts.sandboxOnly}{' '}
      {user?.isAdmin ? (
        <Link to="/dashboard/admin" search={{ tab: 'providers' } as never} className="link">
          {texts.setUpProvider}
        </Link>
      ) : (
        texts.askForProvider
      )}
    </Notice>
  );
}

/** The model that the user has chosen, with what it costs and can; another is found by search. */
export function ModelField({
  label = texts.model,
  offered,
  value,
  onChange,
}: {
  label?: string;
  offered: Offered | undefined;
  value: string | undefined;
  onChange: (model: string) => void;
}) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const known = offered?.models.find((model) => model.id === value);
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <span aria-hidden="true" className="text-[0.9rem] font-medium text-ink">
        {label}
      </span>
      <button
        type="button"
        aria-haspopup="dialog"
        aria-label={words.current(known?.name ?? modelName(value))}
        aria-describedby={known && `${id}-hint`}
        onClick={() => setOpen(true)}
        className="flex min-h-10 w-full items-center justify-between gap-2 rounded-lg border border-line-strong/70 bg-surface px-3 py-2 text-start hover:border-line-strong"
      >
        <span className="min-w-0 truncate">{known?.name ?? modelName(value)}</span>
        <Icon name="down" size={16} />
      </button>
      {known && (
        <p id={`${id}-hint`} className="text-[0.85rem] text-ink-faint">
          {value === SANDBOX_MODEL ? texts.modelSandbox : factsOf(known)}
        </p>
      )}
      {offered?.sandboxOnly && <SandboxOnly />}
      {isOpen && (
        <Suspense>
          <ModelDialog
            offered={offered}
            value={value}
            onClose={() => setOpen(false)}
            onChoose={(model) => {
              if (model !== undefined) onChange(model);
              setOpen(false);
            }}
          />
        </Suspense>
      )}
    </div>
  );
}
