import { useState } from 'react';
import { cost as texts } from '../../../texts/money.ts';
import { SelectField } from '../../../ui/field.tsx';
import { LimitForm } from '../../../ui/limit-form.tsx';
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
  const [agentId, setAgentId] = useState('');
  const choices = <K extends string>(words: Record<string, string>, keys: readonly K[]) =>
    keys.map((value) => ({ value, label: words[value]! }));
  return (
    <LimitForm
      words={{ limit: texts.capLimit, period: texts.capPeriod, set: texts.capSet }}
      // A run is over before a day or a month is.
      periods={choices<Cap['period']>(texts.capPeriods, scope === 'run' ? ['total'] : ['day', 'month'])}
      first="month"
      busy={busy}
      error={error}
      className="rounded-xl bg-sunken p-4"
      onSet={(limit, period) => onSet(capBody({ scope, agentId: scope === 'agent' ? agentId : null, period }, limit))}
      before={
        <>
          <div className="min-w-44 flex-1">
            <SelectField
              label={texts.capScope}
              value={scope}
              onChange={({ target }) => setScope(target.value as Cap['scope'])}
              choices={choices(texts.scopes, ['user', 'agent', 'run'])}
            />
          </div>
          <WhichAgent scope={scope} agents={agents} agentId={agentId} setAgentId={setAgentId} />
        </>
      }
    />
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
