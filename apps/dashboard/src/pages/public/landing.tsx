import { getHealth } from '@troupe/contract';
import { useCall } from '../../api.ts';
import { front } from '../../texts/public.ts';
import { LinkButton } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { DemoChat } from './demo-chat.tsx';
import { PublicFrame } from './frame.tsx';

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
      <section className="border-t border-line bg-surface">
        <ul className="mx-auto grid max-w-6xl gap-x-10 gap-y-8 px-4 py-14 sm:grid-cols-2 sm:px-8 lg:grid-cols-3">
          {front.points.map(([title, text]) => (
            <li key={title}>
              <h2 className="text-[1.3rem] font-semibold">{title}</h2>
              <p className="mt-1 text-ink-soft">{text}</p>
            </li>
          ))}
        </ul>
      </section>
    </PublicFrame>
  );
}

function Health() {
  const { data, error } = useCall(getHealth, {}, { every: 30_000 });
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
