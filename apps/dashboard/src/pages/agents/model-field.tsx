import { BUILT_IN_CATALOGUE, SANDBOX_MODEL, findModel, planAllows } from '@troupe/domain';
import { money } from '../../format.ts';
import { create as texts } from '../../texts/agents.ts';
import { SelectField } from '../../ui/field.tsx';

/** The models of the user's plan, with what they cost. */
export function ModelField({
  plan,
  value,
  onChange,
}: {
  plan: string | null;
  value: string;
  onChange: (model: string) => void;
}) {
  const allowed = BUILT_IN_CATALOGUE.models.filter(
    ({ id }) => id === SANDBOX_MODEL || !plan || planAllows(BUILT_IN_CATALOGUE, plan, id),
  );
  const known = findModel(BUILT_IN_CATALOGUE, value);
  return (
    <SelectField
      label={texts.model}
      value={value}
      onChange={({ target }) => onChange(target.value)}
      hint={
        value === SANDBOX_MODEL
          ? texts.modelSandbox
          : known && texts.modelHint(money(known.inputRate), money(known.outputRate))
      }
      choices={[
        ...allowed.map(({ id, name, description }) => ({ value: id, label: `${name} – ${description}` })),
        ...(allowed.some(({ id }) => id === value) ? [] : [{ value, label: value }]),
      ]}
    />
  );
}
