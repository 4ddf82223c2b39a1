import type { WebAgent } from '@troupe/contract';
import { lazy, Suspense } from 'react';
import { agent as texts } from '../../../texts/agents.ts';
import { cx } from '../../../ui/cx.ts';
import { Lines } from '../../../ui/states.tsx';

// Each loaded when it is opened.
const AgentConfig = lazy(() => import('./config.tsx').then((page) => ({ default: page.AgentConfig })));
const Door = lazy(() => import('./door.tsx').then((page) => ({ default: page.Door })));
const Knows = lazy(() => import('./knows.tsx').then((page) => ({ default: page.Knows })));
const Purpose = lazy(() => import('./purpose.tsx').then((page) => ({ default: page.Purpose })));
const Backups = lazy(() => import('../backups.tsx').then((page) => ({ default: page.Backups })));
const Evaluations = lazy(() =>
  import('../evaluations/evaluations.tsx').then((page) => ({ default: page.Evaluations })),
);
const Spend = lazy(() => import('./spend.tsx').then((page) => ({ default: page.Spend })));
const Manage = lazy(() => import('./manage.tsx').then((page) => ({ default: page.Manage })));

const PARTS = ['purpose', 'config', 'spend', 'knowledge', 'door', 'evaluations', 'backups', 'manage'] as const;
export type Part = (typeof PARTS)[number];

/** What the agent is for, may do and may spend, what it knows, who reaches it, what a change must pass, its backups, and its life. */
export function Settings({
  agent,
  part,
  onPart,
}: {
  agent: WebAgent;
  part: string | undefined;
  onPart: (part: Part) => void;
}) {
  const shown = PARTS.find((known) => known === part) ?? 'purpose';
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[12rem_minmax(0,1fr)]">
      <nav aria-label={texts.parts} className="min-w-0 lg:sticky lg:top-6">
        <ul className="flex flex-wrap gap-1 lg:flex-col">
          {PARTS.map((key) => (
            <li key={key}>
              <button
                type="button"
                aria-current={key === shown ? 'page' : undefined}
                onClick={() => onPart(key)}
                className={cx(
                  'w-full rounded-lg px-3 py-1.5 text-left whitespace-nowrap text-ink-soft lg:whitespace-normal hover:text-ink',
                  key === shown && 'bg-sunken font-semibold text-ink',
                )}
              >
                {texts.part[key]}
              </button>
            </li>
          ))}
        </ul>
      </nav>
      <div className="min-w-0">
        <Suspense fallback={<Lines rows={6} />}>
          {shown === 'purpose' && <Purpose agentId={agent.id} />}
          {shown === 'config' && <AgentConfig agentId={agent.id} />}
          {shown === 'spend' && <Spend agentId={agent.id} />}
          {shown === 'knowledge' && <Knows agentId={agent.id} />}
          {shown === 'door' && <Door agentId={agent.id} />}
          {shown === 'evaluations' && <Evaluations agentId={agent.id} />}
          {shown === 'backups' && <Backups agent={agent} />}
          {shown === 'manage' && <Manage agent={agent} />}
        </Suspense>
      </div>
    </div>
  );
}
