import { getHealth } from '@troupe/contract';
import { useCall } from '../../api.ts';
import { moment } from '../../format.ts';
import { admin as texts } from '../../texts/account.ts';
import { Badge, Card, Facts, Status } from '../../ui/card.tsx';
import { Loaded } from '../../ui/states.tsx';

export function AdminHealth() {
  const read = useCall(getHealth, {}, { every: 10_000 });
  return (
    <Card title={texts.health}>
      <Loaded from={read}>
        {({ health, checks, timestamp }) => (
          <Facts
            items={[
              [texts.status, <Status value={health} />],
              ...Object.entries(checks).map(
                ([name, good]) =>
                  [name, <Badge tone={good ? 'ok' : 'danger'}>{good ? texts.yes : texts.no}</Badge>] as [
                    string,
                    React.ReactNode,
                  ],
              ),
              [texts.measured, moment(timestamp)],
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}
