import { web } from '@troupe/contract';
import { PLANS, PLAN_LIMITS } from '@troupe/domain';
import { useCall } from '../../../api.ts';
import { count, money } from '../../../format.ts';
import { pricing as texts } from '../../../texts/public.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { cx } from '../../../ui/cx.ts';
import { Icon } from '../../../ui/icons.tsx';
import { PublicFrame } from '../../../shell/public-frame.tsx';

const finite = (value: number) => (Number.isFinite(value) ? value : null);

export default function Pricing() {
  // Where nothing is sold a price would say something that is not so.
  const sold = useCall(web.access.getOffers, {}).data?.sold ?? false;
  return (
    <PublicFrame title={texts.title}>
      <div className="mx-auto w-full max-w-6xl px-4 py-10 sm:px-8">
        <h1 className="text-[2.3rem] font-semibold">{texts.title}</h1>
        <p className="mt-2 max-w-[60ch] text-ink-soft">{sold ? texts.lead : texts.granted}</p>
        <ul className="mt-8 grid gap-4 sm:grid-cols-2 lg:grid-cols-4">
          {PLANS.map((plan) => (
            <li key={plan} className="flex flex-col rounded-2xl border border-line bg-surface p-5 shadow-low">
              <h2 className="text-[1.4rem] font-semibold capitalize">{plan}</h2>
              <p className="mt-1 min-h-12 text-ink-soft">{texts.taglines[plan]}</p>
              <p className={cx('num mt-3', !sold && 'hidden')}>
                <span className="font-display text-[2.1rem] font-semibold">
                  {money(PLAN_LIMITS[plan].price, 'GBP').replace('.00', '')}
                </span>{' '}
                <span className="text-ink-faint">{texts.perMonth}</span>
              </p>
              <ul className="my-4 flex flex-1 flex-col gap-2 text-[0.95rem]">
                <PlanPoints plan={plan} />
              </ul>
              <LinkButton
                kind={plan === 'collective' ? 'primary' : 'plain'}
                to="/dashboard/billing"
                search={{ plan } as never}
                aria-label={`${sold ? texts.choose : texts.ask} ${plan}`}
              >
                {sold ? texts.choose : texts.ask}
              </LinkButton>
            </li>
          ))}
        </ul>
      </div>
    </PublicFrame>
  );
}

/** What a plan gives, in words; the numbers are those that the platform enforces. */
export function PlanPoints({ plan }: { plan: (typeof PLANS)[number] }) {
  return planPoints(plan).map(({ text, missing }) => (
    <li key={text} className={cx('flex gap-2', missing && 'text-ink-faint')}>
      <Icon name={missing ? 'close' : 'check'} className={cx('mt-0.5 shrink-0', !missing && 'text-accent')} />
      {text}
    </li>
  ));
}

interface PlanPoint {
  text: string;
  missing?: boolean;
}

function planPoints(plan: (typeof PLANS)[number]): PlanPoint[] {
  const limits = PLAN_LIMITS[plan];
  const tokens = finite(limits.monthlyTokens);
  return [
    { text: texts.agents(finite(limits.agents)) },
    { text: texts.team(limits.team), missing: limits.team === 0 },
    { text: texts.skills(limits.skills) },
    { text: texts.messages(count(limits.messagesPerDay)) },
    { text: texts.tasks(count(limits.tasks)) },
    { text: texts.tokens(tokens === null ? null : count(tokens / 1_000_000)) },
  ];
}
