import type { web, TypesOf } from '@troupe/contract';
import { useMemo, useState } from 'react';
import type { KeyboardEvent } from 'react';
import { money, short } from '../../format.ts';
import { models as texts } from '../../texts/talk.ts';
import { Badge } from '../../ui/card.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { findModels } from './model-search.ts';

type Offered = TypesOf<typeof web.models.list>['reply'];
type Model = Offered['models'][number];

const priceOf = ({ inputCost, outputCost }: Model) =>
  inputCost === 0 && outputCost === 0 ? texts.free : texts.price(money(inputCost), money(outputCost));

/** Finds a model by its name; only those that answer here can be chosen. */
export function ModelDialog({
  offered,
  value,
  own,
  onChoose,
  onClose,
}: {
  offered: Offered | undefined;
  value: string | undefined;
  /** What is used where nothing is chosen, by its name. */
  own?: string;
  onChoose: (model: string | undefined) => void;
  onClose: () => void;
}) {
  const [search, setSearch] = useState('');
  const found = useMemo(() => findModels(offered?.models ?? [], search), [offered, search]);
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && found[0]) {
      event.preventDefault();
      onChoose(found[0].id);
    }
  };
  return (
    <Dialog open onClose={onClose} title={texts.title}>
      <div className="flex flex-col gap-3">
        <TextField
          label={texts.search}
          hideLabel
          type="search"
          placeholder={texts.search}
          value={search}
          onChange={({ target }) => setSearch(target.value)}
          onKeyDown={onKey}
        />
        <ul className="flex max-h-[50dvh] flex-col gap-1 overflow-y-auto" aria-label={texts.title}>
          {own !== undefined && search === '' && (
            <li>
              <Row isChosen={value === undefined} onClick={() => onChoose(undefined)}>
                {texts.own(own)}
              </Row>
            </li>
          )}
          {found.map((model) => (
            <li key={model.id}>
              <Row isChosen={model.id === value} onClick={() => onChoose(model.id)}>
                <About model={model} />
              </Row>
            </li>
          ))}
        </ul>
        {found.length === 0 && <p className="text-ink-faint">{texts.none}</p>}
      </div>
    </Dialog>
  );
}

function About({ model }: { model: Model }) {
  return (
    <>
      <span className="flex flex-wrap items-center gap-2">
        <span className="font-medium">{model.name}</span>
        {model.sees && <Badge tone="info">{texts.sees}</Badge>}
      </span>
      <span className="num block text-[0.85rem] text-ink-faint">
        {priceOf(model)}
        {model.contextWindow ? ` · ${texts.context(short(model.contextWindow))}` : ''}
      </span>
      {model.description && <span className="block text-[0.85rem] text-ink-soft">{model.description}</span>}
    </>
  );
}

function Row({ isChosen, onClick, children }: { isChosen: boolean; onClick: () => void; children: React.ReactNode }) {
  return (
    <button
      type="button"
      aria-pressed={isChosen}
      onClick={onClick}
      className="w-full rounded-lg border border-transparent px-3 py-2 text-left hover:bg-sunken aria-pressed:border-accent aria-pressed:bg-accent-soft"
    >
      {children}
    </button>
  );
}
