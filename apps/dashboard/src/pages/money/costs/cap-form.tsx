import { useState } from 'react';
import { numberOf } from '../../../checks.ts';
import { cost as texts } from '../../../texts/money.ts';
import { Button } from '../../../ui/button.tsx';
import { SelectField, TextField } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { capBody } from './cap.ts';
import type { Cap, CapBody } from './cap.ts';

/** A new cap, or another limit for one that there is. */
export function CapForm({
  agents,
  busy,
  error,
  onSet,
}: {
  agents: { id: string; name: string }[];
  busy: boolean;
  error: Error | null;
  onSet: (body: CapBody) => void;
}) {
  const [scope, setScope] = useState<Cap['scope']>('user');
  const [period, setPeriod] = useState<Cap['period']>('month');
  const [agentId, setAgentId] = useState('');
  const [limit, setLimit] = useState('');
  const submit = () =>
    onSet(
      capBody(
        { scope, agentId: scope === 'agent' ? agentId : null, period: scope === 'run' ? 'total' : period },
        numberOf(limit),
      ),
    );
  const choices = (words: Record<string, string>, keys: string[]) =>
    keys.map((value) => ({ value, label: words[value]! }));
  return (
    <Form
      error={error}
      fields={[]}
      onSubmit={submit}
      className="flex flex-wrap items-end gap-3 rounded-xl bg-sunken p-4"
    >
      <div className="min-w-44 flex-1">
        <SelectField
          label={texts.capScope}
          value={scope}
          onChange={({ target }) => setScope(target.value as Cap['scope'])}
          choices={choices(texts.scopes, ['user', 'agent', 'run'])}
        />
      </div>
      <WhichAgent scope={scope} agents={agents} agentId={agentId} setAgentId={setAgentId} />
      {scope !== 'run' && (
        <div className="min-w-28">
          <SelectField
            label={texts.capPeriod}
            value={period}
            onChange={({ target }) => setPeriod(target.value as Cap['period'])}
            choices={choices(texts.capPeriods, ['day', 'month'])}
          />
        </div>
      )}
      <Most limit={limit} setLimit={setLimit} />
      <Button kind="primary" type="submit" busy={busy}>
        {texts.capSet}
      </Button>
      <div className="basis-full empty:hidden">
        <Refused error={error} />
      </div>
    </Form>
  );
}

function Most({ limit, setLimit }: { limit: string; setLimit: (value: string) => void }) {
  return (
    <div className="w-36">
      <TextField
        label={texts.capLimit}
        type="number"
        step="any"
        required
        value={limit}
        onChange={({ target }) => setLimit(target.value)}
      />
    </div>
  );
}

function WhichAgent({
  scope,
  agents,
  agentId,
  setAgentId,
}: {
  scope: Cap['scope'];
  agents: { id: string; name: string }[];
  agentId: string;
  setAgentId: (value: string) => void;
}) {
  return (
    <>
      {scope === 'agent' && (
        <div className="min-w-40 flex-1">
          <SelectField
            label={texts.capAgent}
            value={agentId}
            onChange={({ target }) => setAgentId(target.value)}
            choices={[
              { value: '', label: texts.everyAgent },
              ...agents.map(({ id, name }) => ({ value: id, label: name })),
            ]}
          />
        </div>
      )}
    </>
  );
}
