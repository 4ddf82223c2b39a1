import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { numberOf } from '../../../checks.ts';
import { money } from '../../../format.ts';
import { spend as texts } from '../../../texts/agents.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Gauge } from '../../../ui/chart.tsx';
import { SelectField, TextField } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { Loaded } from '../../../ui/states.tsx';
import { useSay } from '../../../ui/toast.tsx';

type Cap = TypesOf<typeof web.usage.getCaps>['reply']['caps'][number];
type Period = 'day' | 'month';
const PERIODS: Period[] = ['month', 'day'];

/** What this agent may spend, and what happens then. */
export function Spend({ agentId }: { agentId: string }) {
  const read = useCall(web.usage.getCaps, {});
  const say = useSay();
  const put = useSend(web.usage.putCap, {
    refresh: [web.usage.getCaps, web.costs.getBudgets],
    done: () => say(texts.saved),
  });
  const set = (period: Cap['period'], limitUsd: number | null) =>
    put.mutate({ body: { scope: 'agent', agentId, period, limitUsd } });
  return (
    <Card
      title={texts.title}
      hint={texts.hint}
      actions={
        <LinkButton small kind="quiet" to="/dashboard/cost">
          {texts.all}
        </LinkButton>
      }
    >
      <Loaded from={read}>
        {({ caps }) => (
          <Caps
            caps={caps.filter((cap) => cap.scope === 'agent' && cap.agentId === agentId)}
            busy={put.isPending}
            onRemove={({ period }) => set(period, null)}
          />
        )}
      </Loaded>
      <CapForm busy={put.isPending} error={put.error} onSet={set} />
    </Card>
  );
}

function Caps({ caps, busy, onRemove }: { caps: Cap[]; busy: boolean; onRemove: (cap: Cap) => void }) {
  if (caps.length === 0) return <p className="text-ink-soft">{texts.none}</p>;
  return (
    <ul className="flex flex-col gap-4">
      {caps.map((cap) => {
        const name = texts.periods[cap.period] ?? cap.period;
        const used = cap.usedUsd ?? 0;
        return (
          <li key={cap.period} className="flex flex-wrap items-center gap-x-4 gap-y-2">
            <div className="min-w-56 flex-1">
              <Gauge
                label={name}
                used={used}
                limit={cap.limitUsd}
                text={texts.used(money(used), money(cap.limitUsd))}
              />
            </div>
            <Button small busy={busy} aria-label={texts.removeNamed(name)} onClick={() => onRemove(cap)}>
              {texts.remove}
            </Button>
          </li>
        );
      })}
    </ul>
  );
}

function CapForm({
  busy,
  error,
  onSet,
}: {
  busy: boolean;
  error: Error | null;
  onSet: (period: Period, limit: number) => void;
}) {
  const [period, setPeriod] = useState<Period>('month');
  const [limit, setLimit] = useState('');
  return (
    <Form
      error={error}
      fields={[]}
      onSubmit={() => onSet(period, numberOf(limit))}
      className="mt-5 flex flex-wrap items-end gap-3 rounded-xl bg-sunken p-4"
    >
      <div className="w-36">
        <TextField
          label={texts.limit}
          type="number"
          step="any"
          required
          value={limit}
          onChange={({ target }) => setLimit(target.value)}
        />
      </div>
      <div className="min-w-28">
        <SelectField
          label={texts.period}
          value={period}
          onChange={({ target }) => setPeriod(target.value as Period)}
          choices={PERIODS.map((value) => ({ value, label: texts.periods[value] ?? value }))}
        />
      </div>
      <Button kind="primary" type="submit" busy={busy}>
        {texts.set}
      </Button>
      <div className="basis-full empty:hidden">
        <Refused error={error} />
      </div>
    </Form>
  );
}
