import { CASE_SECONDS, MOST_CHECKS, web } from '@troupe/contract';
import type { EvaluationCase, TypesOf } from '@troupe/contract';
import { useSend } from '../../../api.ts';
import { evaluations as texts } from '../../../texts/evaluations.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { SelectField, TextArea, TextField } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { LeftOff, useUnsaved } from '../../../ui/use-unsaved.tsx';
import { CHECK_KINDS, checkOf, draftOf, schemaIn, type CheckDraft } from './checks.ts';

const REFRESH = { refresh: [web.evaluations.listCases] };
const LONG = new Set<CheckDraft['kind']>(['schema', 'judge']);

type Body = TypesOf<typeof web.evaluations.createCase>['body'];

function useSave({ agentId, given, onClose }: CaseFormProps) {
  const say = useSay();
  const done = () => {
    say(texts.saved);
    onClose();
  };
  const create = useSend(web.evaluations.createCase, { ...REFRESH, done });
  const update = useSend(web.evaluations.updateCase, { ...REFRESH, done });
  const save = (body: Body) => {
    if (given) update.mutate({ params: { id: agentId, caseId: given.id }, body });
    else create.mutate({ params: { id: agentId }, body });
  };
  const { error, isPending } = given ? update : create;
  return { save, error, isPending };
}

interface CaseFormProps {
  agentId: string;
  given: EvaluationCase | undefined;
  onClose: () => void;
}

const begunWith = (given: EvaluationCase | undefined) => ({
  name: given?.name ?? '',
  input: given?.input ?? '',
  seconds: String(given?.maxSeconds ?? CASE_SECONDS.usual),
  checks: given?.checks.map(draftOf) ?? [{ kind: 'contains' as const, value: '' }],
});

/** What the agent is told, and what is expected of it. */
export function CaseForm({ agentId, given, onClose }: CaseFormProps) {
  const unsaved = useUnsaved(`case:${given?.id ?? agentId}`, begunWith(given));
  const { name, input, seconds, checks } = unsaved.value;
  const leave = () => {
    unsaved.clear();
    onClose();
  };
  const { save, error, isPending } = useSave({ agentId, given, onClose: leave });
  const hasBadSchema = checks.some(({ kind, value }) => kind === 'schema' && !schemaIn(value));
  const submit = () => {
    const stubs = given?.stubs ?? [];
    save({ name, input, checks: checks.map(checkOf), stubs, maxSeconds: Number(seconds) });
  };
  return (
    <Dialog open onClose={onClose} title={given ? given.name : texts.add} wide>
      <Form error={error} fields={['name', 'input', 'maxSeconds']} onSubmit={submit} className="flex flex-col gap-4">
        <LeftOff of={unsaved} />
        <TextField
          label={texts.name}
          name="name"
          required
          value={name}
          onChange={({ target }) => unsaved.set({ name: target.value })}
        />
        <TextArea
          label={texts.input}
          name="input"
          rows={4}
          required
          dir="auto"
          value={input}
          onChange={({ target }) => unsaved.set({ input: target.value })}
        />
        <Checks checks={checks} onChange={(next) => unsaved.set({ checks: next })} />
        {given && given.stubs.length > 0 && (
          <p className="text-[0.9rem] text-ink-soft">{texts.stubs(given.stubs.map(({ tool }) => tool).join(', '))}</p>
        )}
        <TextField
          label={texts.maxSeconds}
          name="maxSeconds"
          type="number"
          min={1}
          max={CASE_SECONDS.most}
          value={seconds}
          onChange={({ target }) => unsaved.set({ seconds: target.value })}
        />
        <Refused error={error} />
        <div>
          <Button kind="primary" type="submit" busy={isPending} disabled={hasBadSchema}>
            {texts.save}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

function Checks({ checks, onChange }: { checks: CheckDraft[]; onChange: (next: CheckDraft[]) => void }) {
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="eyebrow mb-2">{texts.checks}</legend>
      {checks.map((check, place) => (
        <CheckRow
          key={place}
          check={check}
          onChange={(next) => onChange(checks.with(place, next))}
          onRemove={checks.length > 1 ? () => onChange(checks.toSpliced(place, 1)) : undefined}
        />
      ))}
      <div>
        <Button
          small
          icon="plus"
          disabled={checks.length >= MOST_CHECKS}
          onClick={() => onChange([...checks, { kind: 'contains', value: '' }])}
        >
          {texts.addCheck}
        </Button>
      </div>
    </fieldset>
  );
}

function CheckRow({
  check,
  onChange,
  onRemove,
}: {
  check: CheckDraft;
  onChange: (next: CheckDraft) => void;
  onRemove: (() => void) | undefined;
}) {
  const { kind, value } = check;
  const isBad = kind === 'schema' && value !== '' && !schemaIn(value);
  const write = ({ target }: { target: { value: string } }) => onChange({ ...check, value: target.value });
  const isNumber = kind === 'cost' || kind === 'time';
  return (
    <div className="grid items-start gap-3 sm:grid-cols-[minmax(0,2fr)_minmax(0,3fr)_auto]">
      <SelectField
        label={texts.kind}
        value={kind}
        onChange={({ target }) => onChange({ kind: target.value as CheckDraft['kind'], value })}
        choices={CHECK_KINDS.map((one) => ({ value: one, label: texts.kinds[one] ?? one }))}
      />
      {LONG.has(kind) ? (
        <TextArea
          label={texts.value}
          rows={3}
          required
          mono={kind === 'schema'}
          hint={isBad ? texts.badSchema : undefined}
          value={value}
          onChange={write}
        />
      ) : (
        <TextField
          label={texts.value}
          required
          {...(isNumber && { type: 'number', min: 0, step: 'any' })}
          value={value}
          onChange={write}
        />
      )}
      {onRemove && <IconButton icon="trash" label={texts.removeCheck} onClick={onRemove} />}
    </div>
  );
}
