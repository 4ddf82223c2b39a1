import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useCall, useSend } from '../../api.ts';
import { ago, coming, moment } from '../../format.ts';
import { states } from '../../texts/common.ts';
import { heartbeat as texts } from '../../texts/operate.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Badge, Card, Notice } from '../../ui/card.tsx';
import { SelectField } from '../../ui/field.tsx';
import { Mask } from '../../ui/icons.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Failure, Lines, Loaded } from '../../ui/states.tsx';
import { useSay } from '../../ui/toast.tsx';

export default function Heartbeats() {
  const read = useCall(web.agents.list, {});
  return (
    <Page title={texts.title} lead={texts.lead}>
      <Loaded from={read}>
        {({ agents }) =>
          agents.length === 0 ? (
            <Card>
              <Empty
                title={texts.noAgents}
                action={<LinkButton to="/dashboard/agents/new">{states.create}</LinkButton>}
              >
                {texts.noAgentsHint}
              </Empty>
            </Card>
          ) : (
            <Card flush>
              <ul className="divide-y divide-line">
                {agents.map((agent) => (
                  <li key={agent.id} className="px-5 py-3.5">
                    <AgentHeartbeat id={agent.id} name={agent.name} />
                  </li>
                ))}
              </ul>
            </Card>
          )
        }
      </Loaded>
    </Page>
  );
}

function AgentHeartbeat({ id, name }: { id: string; name: string }) {
  const read = useCall(web.heartbeat.get, { query: { agentId: id } }, { every: 30_000 });
  const say = useSay();
  const done = () => say(texts.saved);
  const save = useSend(web.heartbeat.set, { refresh: [web.heartbeat.get], done });
  const remove = useSend(web.heartbeat.remove, { refresh: [web.heartbeat.get], done });
  const failed = save.error ?? remove.error;
  const beat = read.data?.heartbeat;
  const frequency = beat?.frequency ?? '3h';
  const choices = { ...texts.frequencies, ...(frequency in texts.frequencies ? {} : { [frequency]: frequency }) };
  return (
    <div className="flex flex-wrap items-center gap-x-6 gap-y-3">
      <div className="flex min-w-40 flex-1 items-center gap-3">
        <Mask seed={id} size={32} />
        <span className="min-w-0 truncate font-medium">{name}</span>
      </div>
      {read.data ? (
        <>
          <Times beat={beat} />
          <div className="flex w-80 items-center gap-2">
            <div className="min-w-0 flex-1">
              <SelectField
                label={`${texts.frequency} (${name})`}
                hideLabel
                value={beat?.enabled ? frequency : ''}
                onChange={({ target }) =>
                  target.value && save.mutate({ body: { agentId: id, frequency: target.value, enabled: true } })
                }
                choices={[
                  ...(beat?.enabled ? [] : [{ value: '', label: texts.off }]),
                  ...Object.entries(choices).map(([value, label]) => ({ value, label: `${texts.frequency} ${label}` })),
                ]}
              />
            </div>
            {beat?.enabled && (
              <Button busy={remove.isPending} onClick={() => remove.mutate({ body: { agentId: id } })}>
                {texts.remove}
              </Button>
            )}
          </div>
        </>
      ) : (
        <div className={read.error ? 'w-80' : 'w-40'}>
          {read.error ? <Failure error={read.error} retry={() => void read.refetch()} /> : <Lines rows={2} />}
        </div>
      )}
      {failed && (
        <div className="w-full">
          <Notice tone="danger">{failed.message}</Notice>
        </div>
      )}
    </div>
  );
}

function Times({ beat }: { beat: TypesOf<typeof web.heartbeat.get>['reply']['heartbeat'] | undefined }) {
  return (
    <dl className="grid w-60 grid-cols-2 gap-6 text-[0.9rem]">
      <div>
        <dt className="text-ink-faint">{texts.last}</dt>
        <dd title={moment(beat?.lastHeartbeat)}>{beat?.lastHeartbeat ? ago(beat.lastHeartbeat) : states.never}</dd>
      </div>
      <div>
        <dt className="text-ink-faint">{texts.next}</dt>
        <dd title={moment(beat?.nextHeartbeat)}>
          {beat?.enabled ? coming(beat.nextHeartbeat) : <Badge>{texts.off}</Badge>}
        </dd>
      </div>
    </dl>
  );
}
