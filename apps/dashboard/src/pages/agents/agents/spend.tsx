import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useCall, useSend } from '../../../api.ts';
import { ago, money } from '../../../format.ts';
import { spend as texts } from '../../../texts/agents.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Gauge } from '../../../ui/chart.tsx';
import { LimitForm } from '../../../ui/limit-form.tsx';
import { Loaded } from '../../../ui/states.tsx';
import { useSay } from '../../../ui/toast.tsx';

type Cap = TypesOf<typeof web.usage.getCaps>['reply']['caps'][number];
const PERIODS = ['month', 'day'] as const;

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
      <LimitForm
        words={texts}
        periods={PERIODS.map((value) => ({ value, label: texts.periods[value] ?? value }))}
        first="month"
        busy={put.isPending}
        error={put.error}
        className="mt-5 rounded-xl bg-sunken p-4"
        onSet={(limit, period) => set(period, limit)}
      />
    </Card>
  );
}

/** It can be more than the cap: what a call costs is known when it has ended. */
const usedOf = (used: number, limit: number): string =>
  used > limit ? texts.over(money(used - limit), money(limit)) : texts.used(money(used), money(limit));

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
              <Gauge label={name} used={used} limit={cap.limitUsd} text={usedOf(used, cap.limitUsd)} />
              {used >= cap.limitUsd && cap.resetsAt !== null && (
                <p className="mt-1 text-[0.85rem] text-spot">{texts.full(ago(cap.resetsAt))}</p>
              )}
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
