import { web } from '@troupe/contract';
import type { ReactNode } from 'react';
import { useCall } from '../../../api.ts';
import { bytes, count, duration, moment, percent } from '../../../format.ts';
import { admin as texts } from '../../../texts/account.ts';
import { Badge, Card, Facts, Figure, Figures, Status } from '../../../ui/card.tsx';
import { Loaded } from '../../../ui/states.tsx';

/** How the platform is: what it checks about itself, and what was measured. */
export function AdminHealth() {
  const health = useCall(web.health.get, {}, { every: 10_000 });
  const measured = useCall(web.overview.getMetrics, {}, { every: 10_000 });
  return (
    <div className="flex flex-col gap-5">
      <Card title={texts.health}>
        <Loaded from={health}>
          {({ health: state, checks, timestamp }) => (
            <Facts
              items={[
                [texts.status, <Status value={state} />],
                ...Object.entries(checks).map(([name, good]): [string, ReactNode] => [
                  texts.checkNames[name] ?? name,
                  <Badge tone={good ? 'ok' : 'danger'}>{good ? texts.yes : texts.no}</Badge>,
                ]),
                [texts.measured, moment(timestamp)],
              ]}
            />
          )}
        </Loaded>
      </Card>
      <Loaded from={measured}>
        {({ metrics: { uptime, performance, messages, deployments, storage } }) => (
          <Figures>
            <Figure
              label={texts.uptime}
              value={duration(Math.max(1, uptime.seconds) * 1000)}
              note={texts.since(moment(uptime.since))}
            />
            <Figure
              label={texts.modelCalls}
              value={count(performance.calls)}
              note={
                performance.averageMs !== null &&
                performance.successRate !== null &&
                texts.callsNote(duration(performance.averageMs), percent(performance.successRate * 100))
              }
            />
            <Figure label={texts.messages} value={count(messages.total)} note={texts.today(count(messages.today))} />
            <Figure
              label={texts.deployments}
              value={count(deployments.total)}
              note={texts.failed(count(deployments.failed))}
            />
            <Figure
              label={texts.memories}
              value={count(storage.memories)}
              note={texts.stored(bytes(storage.memoryBytes), count(storage.events))}
            />
          </Figures>
        )}
      </Loaded>
      <p className="text-[0.87rem] text-ink-faint">{texts.yourAgents}</p>
    </div>
  );
}
