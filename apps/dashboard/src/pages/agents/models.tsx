import type { web, TypesOf } from '@troupe/contract';
import { SANDBOX_MODEL } from '@troupe/domain';
import { money } from '../../format.ts';
import { create as texts } from '../../texts/agents.ts';
import { Notice } from '../../ui/card.tsx';
import { SelectField } from '../../ui/field.tsx';

/** The models that the user can choose, with what they cost. */
export function ModelField({
  offered,
  value,
  onChange,
}: {
  offered: TypesOf<typeof web.models.list>['reply'] | undefined;
  value: string | undefined;
  onChange: (model: string) => void;
}) {
  const models = offered?.models ?? [];
  const known = models.find(({ id }) => id === value);
  return (
    <>
      <SelectField
        label={texts.model}
        value={value ?? ''}
        onChange={({ target }) => onChange(target.value)}
        hint={
          value === SANDBOX_MODEL
            ? texts.modelSandbox
            : known && texts.modelHint(money(known.inputCost), money(known.outputCost))
        }
        choices={models.map(({ id, name, description }) => ({
          value: id,
          label: description ? `${name} – ${description}` : name,
        }))}
      />
      {offered?.sandboxOnly && <Notice>{texts.sandboxOnly}</Notice>}
    </>
  );
}
