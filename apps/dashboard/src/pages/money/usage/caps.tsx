import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { numberOf } from '../../../checks.ts';
import { ago, count, money, short } from '../../../format.ts';
import { cost as texts } from '../../../texts/money.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Gauge } from '../../../ui/chart.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { SelectField, TextField } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { Loaded } from '../../../ui/states.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { capBody, capName } from './cap.ts';
import type { Cap, CapBody } from './cap.ts';

type Reply = TypesOf<typeof web.usage.getCaps>['reply'];

/** What may be spent at most. */
export function Caps() {
  const read = useCall(web.usage.getCaps, {}, { every: 20_000 });
  const agents = useCall(web.agents.list, {}).data?.agents ?? [];
  const [removing, setRemoving] = useState<Cap>();
  const say = useSay();
  const put = useSend(web.usage.putCap, {
    refresh: [web.usage.getCaps],
    done: () => {
      setRemoving(undefined);
      say(texts.capSaved);
    },
  });
  const nameOf = (cap: Cap) => capName(cap, agents);
  return (
    <Card title={texts.caps} hint={texts.capsHint}>
      <Loaded from={read}>
        {({ caps, tokens, credits }) => (
          <div className="flex flex-col gap-6">
            {caps.length === 0 && <p className="text-ink-soft">{texts.capNone}</p>}
            <ul className="flex flex-col gap-4">
              {caps.map((cap) => (
                <CapLine
                  key={`${cap.scope}-${cap.agentId}-${cap.period}`}
                  cap={cap}
                  name={nameOf(cap)}
                  onRemove={() => setRemoving(cap)}
                />
              ))}
            </ul>
            <CapForm
              agents={agents}
              busy={put.isPending}
              error={removing ? null : put.error}
              onSet={(body) => put.mutate({ body })}
            />
            <Quota tokens={tokens} credits={credits} />
          </div>
        )}
      </Loaded>
      <Confirm
        open={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        title={texts.capRemoveTitle}
        losses={
          <>
            <p>{removing && nameOf(removing)}</p>
            <p>{texts.capRemoveLoss}</p>
          </>
        }
        action={texts.capRemove}
        busy={put.isPending}
        error={put.error}
        onConfirm={() => removing && put.mutate({ body: capBody(removing, null) })}
      />
    </Card>
  );
}

/** Tokens of the month. */
function Quota({ tokens, credits }: { tokens: Reply['tokens']; credits: number }) {
  return (
    <>
      {tokens.limit !== null && (
        <div>
          <Gauge
            label={texts.quota}
            used={tokens.used}
            limit={tokens.limit}
            text={texts.quotaText(short(tokens.used), short(tokens.limit))}
          />
          <p className="mt-1 text-[0.85rem] text-ink-faint">
            {tokens.enforced ? texts.resets(ago(tokens.resetsAt)) : texts.quotaOpen}{' '}
            {credits > 0 && texts.credits(count(credits))}
          </p>
        </div>
      )}
    </>
  );
}

function CapLine({ cap, name, onRemove }: { cap: Cap; name: string; onRemove: () => void }) {
  return (
    <li className="flex items-center gap-4">
      <div className="min-w-0 flex-1">
        <Gauge
          label={name}
          used={cap.usedUsd ?? 0}
          limit={cap.limitUsd}
          text={
            cap.usedUsd === null
              ? texts.capEach(money(cap.limitUsd))
              : cap.usedUsd > cap.limitUsd
                ? texts.capOver(money(cap.usedUsd - cap.limitUsd), money(cap.limitUsd))
                : texts.capUsed(money(cap.usedUsd), money(cap.limitUsd))
          }
        />
        {cap.resetsAt && <p className="mt-1 text-[0.85rem] text-ink-faint">{texts.resets(ago(cap.resetsAt))}</p>}
      </div>
      <Button small aria-label={`${texts.capRemove}: ${name}`} onClick={onRemove}>
        {texts.capRemove}
      </Button>
    </li>
  );
}

function CapForm({
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
