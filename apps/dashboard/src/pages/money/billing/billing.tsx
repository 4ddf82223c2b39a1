import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { PLANS, PLAN_LIMITS } from '@troupe/domain';
import type { Plan } from '@troupe/domain';
import { useSearch } from '@tanstack/react-router';
import { statusOf, useCall, useSend } from '../../../api.ts';
import { day, money, planName } from '../../../format.ts';
import { billing as texts } from '../../../texts/money.ts';
import { AccessCard, useAccess } from '../../identity/access.tsx';
import { PlanPoints } from './pricing.tsx';
import { Button } from '../../../ui/button.tsx';
import { Badge, Card, Facts, Notice, Status } from '../../../ui/card.tsx';
import { cx } from '../../../ui/cx.ts';
import { Page } from '../../../ui/page.tsx';
import { Loaded } from '../../../ui/states.tsx';

export default function Billing() {
  const search = useSearch({ strict: false });
  const read = useCall(web.billing.get, {});
  const leave = ({ url }: { url: string }) => location.assign(url);
  const checkout = useSend(web.billing.createCheckout, { done: leave });
  const portal = useSend(web.billing.createPortal, { done: leave });
  const access = useAccess().data;
  const error = checkout.error ?? portal.error;
  /** An administrator gave the plan: the card processor does not know this person. */
  const given = statusOf(portal.error) === 404;
  return (
    <Page title={texts.title} lead={texts.lead}>
      {search['checkout'] === 'success' && <Notice tone="ok">{texts.success}</Notice>}
      {search['checkout'] === 'cancelled' && <Notice tone="spot">{texts.cancelled}</Notice>}
      {error && <Notice tone={given ? 'spot' : 'danger'}>{given ? texts.given : error.message}</Notice>}
      <Loaded from={read}>
        {({ plan, status, renewsAt }) => (
          <>
            <Card
              title={texts.current}
              actions={
                status === 'active' &&
                access?.sold && (
                  <Button busy={portal.isPending} onClick={() => portal.mutate({})}>
                    {texts.manage}
                  </Button>
                )
              }
            >
              <Facts
                items={[
                  [texts.plan, <strong>{plan ? planName(plan) : texts.none}</strong>],
                  [texts.status, <Status value={status} />],
                  ...(renewsAt ? [[texts.renews, day(renewsAt)] as [string, string]] : []),
                ]}
              />
              {status !== 'active' && access?.sold && <p className="mt-3 text-ink-soft">{texts.inactive}</p>}
            </Card>
            <AccessCard />
            {access?.sold && <Plans plan={plan} status={status} checkout={checkout} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** What can be bought. */
function Plans({
  plan,
  status,
  checkout,
}: {
  plan: Plan | null;
  status: string;
  checkout: ReturnType<typeof useSend<TypesOf<typeof web.billing.createCheckout>>>;
}) {
  const search = useSearch({ strict: false });
  return (
    <ul className="grid gap-4 sm:grid-cols-2 xl:grid-cols-4">
      {PLANS.map((name) => {
        const mine = name === plan && status === 'active';
        return (
          <li
            key={name}
            className={cx(
              'flex flex-col rounded-2xl border bg-surface p-5 shadow-low',
              mine || search['plan'] === name ? 'border-accent' : 'border-line',
            )}
          >
            <h2 className="flex items-center justify-between gap-2 text-[1.2rem] font-semibold">
              {planName(name)}
              {mine && (
                <span className="font-sans normal-case">
                  <Badge tone="accent">{texts.current}</Badge>
                </span>
              )}
            </h2>
            <p className="num mt-2">
              <span className="font-display text-[1.7rem] font-semibold">
                {money(PLAN_LIMITS[name].price, 'GBP').replace('.00', '')}
              </span>{' '}
              <span className="text-ink-faint">{texts.perMonth}</span>
            </p>
            <ul className="my-4 flex flex-1 flex-col gap-1.5 text-[0.92rem]">
              <PlanPoints plan={name} />
            </ul>
            <Button
              kind={search['plan'] === name ? 'primary' : 'plain'}
              disabled={mine}
              busy={checkout.isPending && checkout.variables.body.plan === name}
              onClick={() => checkout.mutate({ body: { plan: name } })}
            >
              {texts.choose(planName(name))}
            </Button>
          </li>
        );
      })}
    </ul>
  );
}
