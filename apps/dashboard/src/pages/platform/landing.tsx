import { web } from '@troupe/contract';
import { useCall } from '../../api.ts';
import { front } from '../../texts/public.ts';
import { LinkButton } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { Icon } from '../../ui/icons.tsx';
import { DemoChat } from '../agents/demo.tsx';
import { PublicFrame } from '../../shell/public-frame.tsx';

export default function Landing() {
  return (
    <PublicFrame>
      <section className="mx-auto grid w-full max-w-6xl gap-10 px-4 py-10 sm:px-8 lg:grid-cols-[1.1fr_1fr] lg:py-16">
        <div className="min-w-0">
          <h1 className="text-[2.3rem] leading-[1.1] font-semibold sm:text-[3.2rem]">{front.headline}</h1>
          <p className="mt-5 max-w-[54ch] text-[1.1rem] text-ink-soft">{front.lead}</p>
          <div className="mt-7 flex flex-wrap gap-3">
            <LinkButton kind="primary" to="/signup" icon="arrow">
              {front.start}
            </LinkButton>
            <a href="/docs" className="inline-flex min-h-10 items-center px-2 link">
              {front.docs}
            </a>
          </div>
          <Health />
        </div>
        <DemoChat />
      </section>
      <Steps />
      <section className="border-y border-line bg-surface">
        <h2 className="mx-auto max-w-6xl px-4 pt-14 text-[1.7rem] font-semibold sm:px-8">{front.pointsTitle}</h2>
        <ul className="mx-auto grid max-w-6xl gap-x-10 gap-y-8 px-4 pt-8 pb-14 sm:grid-cols-2 sm:px-8 lg:grid-cols-3">
          {front.points.map(([title, text], index) => (
            <li key={title} className="flex gap-4">
              <span className="grid size-10 shrink-0 place-items-center rounded-xl bg-accent-soft text-accent-ink">
                <Icon name={front.icons[index]!} size={20} />
              </span>
              <div className="min-w-0">
                <h3 className="text-[1.2rem] font-semibold">{title}</h3>
                <p className="mt-1 text-ink-soft">{text}</p>
              </div>
            </li>
          ))}
        </ul>
      </section>
    </PublicFrame>
  );
}

function Steps() {
  return (
    <section className="mx-auto w-full max-w-6xl px-4 pb-14 sm:px-8">
      <h2 className="text-[1.7rem] font-semibold">{front.stepsTitle}</h2>
      <ol className="mt-6 grid gap-4 lg:grid-cols-3">
        {front.steps.map(([title, text], index) => (
          <li key={title} className="rounded-2xl border border-line bg-surface p-5 shadow-low">
            <span className="num font-display text-[1.6rem] font-semibold text-accent-ink">{index + 1}</span>
            <h3 className="mt-1 text-[1.2rem] font-semibold">{title}</h3>
            <p className="mt-1 text-ink-soft">{text}</p>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Health() {
  const { data, error } = useCall(web.health.get, {}, { every: 30_000 });
  const state = data?.health;
  const text = state ? front.healthStates[state] : error ? front.healthDown : front.healthUnknown;
  return (
    <p className="mt-8 inline-flex items-center gap-2 text-[0.9rem] text-ink-faint" role="status">
      <span
        aria-hidden="true"
        className={cx(
          'size-2 rounded-full',
          state === 'healthy'
            ? 'bg-ok'
            : state === 'degraded'
              ? 'bg-spot'
              : error || state
                ? 'bg-danger'
                : 'bg-line-strong',
        )}
      />
      {front.health}: {text}
    </p>
  );
}
