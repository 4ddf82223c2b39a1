import { web } from '@troupe/contract';
import type { TypesOf, WebAgent } from '@troupe/contract';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useState } from 'react';
import { useCall } from '../../../api.ts';
import { ago, count, moment, money } from '../../../format.ts';
import { modelName } from '../../../models.ts';
import { agentStates } from '../../../texts/agent-states.ts';
import { agents as texts } from '../../../texts/agents.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { Badge, Card, Status } from '../../../ui/card.tsx';
import { Mask } from '../../../ui/icons.tsx';
import { Page } from '../../../ui/page.tsx';
import { Empty } from '../../../ui/states.tsx';
import { Table, type Column } from '../../../ui/table.tsx';

const BulkBar = lazy(() => import('./bulk.tsx').then((part) => ({ default: part.BulkBar })));

type Used = TypesOf<typeof web.usage.getCosts>['reply']['agents'][number];

function Named({
  agent: { id, name, tags },
  team,
  isChosen,
  onToggle,
}: {
  agent: WebAgent;
  team: string | undefined;
  isChosen: boolean;
  onToggle: () => void;
}) {
  return (
    <span className="flex min-w-0 items-center gap-3">
      <input
        type="checkbox"
        aria-label={texts.choose(name)}
        checked={isChosen}
        onChange={onToggle}
        className="size-4.5 shrink-0 accent-accent"
      />
      <Link to="/dashboard/agents/$id" params={{ id } as never} className="flex min-w-0 items-center gap-3 font-medium">
        <Mask seed={id} size={30} />
        <span className="min-w-0">
          <span className="block hover:underline" dir="auto">
            {name}
          </span>
          {team && <span className="block text-[0.85rem] font-normal text-ink-faint">{team}</span>}
        </span>
      </Link>
      {tags.length > 0 && (
        <span className="flex flex-wrap gap-1">
          {tags.map((tag) => (
            <Badge key={tag}>{tag}</Badge>
          ))}
        </span>
      )}
    </span>
  );
}

/** `used`: by the agent's id; undefined as long as it is not known. */
const columnsOf = (
  used: Map<string, Used> | undefined,
  teamOf: (id: string) => string | undefined,
  { chosen, toggle }: { chosen: ReadonlySet<string>; toggle: (id: string) => void },
): Column<WebAgent>[] => [
  {
    key: 'name',
    header: texts.name,
    width: 32,
    sort: ({ name }) => name,
    cell: (agent) => (
      <Named
        agent={agent}
        team={agent.teamId ? teamOf(agent.teamId) : undefined}
        isChosen={chosen.has(agent.id)}
        onToggle={() => toggle(agent.id)}
      />
    ),
  },
  {
    key: 'model',
    header: texts.model,
    sort: ({ answers }) => answers,
    cell: ({ answers }) => <span title={answers}>{modelName(answers)}</span>,
  },
  {
    key: 'status',
    header: texts.status,
    width: 13,
    sort: ({ status }) => agentStates[status] ?? status,
    cell: ({ status }) => <Status value={status} text={agentStates[status]} />,
  },
  {
    key: 'calls',
    minor: true,
    header: texts.calls,
    end: true,
    width: 12,
    sort: ({ id }) => used?.get(id)?.calls ?? 0,
    cell: ({ id }) => used && count(used.get(id)?.calls ?? 0),
  },
  {
    key: 'cost',
    header: texts.cost,
    end: true,
    width: 12,
    sort: ({ id }) => used?.get(id)?.cost ?? 0,
    cell: ({ id }) => used && money(used.get(id)?.cost ?? 0),
  },
  {
    key: 'created',
    minor: true,
    header: texts.created,
    width: 15,
    sort: ({ createdAt }) => createdAt,
    cell: ({ createdAt }) => <span title={moment(createdAt)}>{ago(createdAt)}</span>,
  },
];

export default function Agents() {
  const read = useCall(web.agents.list, {});
  const cost = useCall(web.usage.getCosts, { query: { period: '30d' } }).data;
  const used = useMemo(() => cost && new Map(cost.agents.map((agent) => [agent.agentId, agent])), [cost]);
  const teams = useCall(web.teams.list, {}).data?.teams;
  const teamOf = (id: string) => teams?.find(({ teamId }) => teamId === id)?.name;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (id: string) =>
    setChosen((old) => (old.has(id) ? new Set([...old].filter((one) => one !== id)) : new Set([...old, id])));
  const picked = read.data?.agents.filter(({ id }) => chosen.has(id)) ?? [];
  const create = (
    <LinkButton kind="primary" icon="plus" to="/dashboard/agents/new">
      {texts.new}
    </LinkButton>
  );
  return (
    <Page title={texts.title} lead={texts.lead} actions={create}>
      <Card flush className="overflow-hidden pt-2">
        {picked.length > 0 && (
          <Suspense fallback={null}>
            <BulkBar chosen={picked} onDone={() => setChosen(new Set())} />
          </Suspense>
        )}
        <Table
          label={texts.title}
          rows={read.data?.agents}
          rowKey={({ id }) => id}
          error={read.error}
          retry={() => void read.refetch()}
          find={({ name, answers, status, tags }) =>
            `${name} ${answers} ${modelName(answers)} ${agentStates[status] ?? status} ${tags.join(' ')}`
          }
          empty={
            <Empty title={texts.empty} action={create}>
              {texts.emptyHint}
            </Empty>
          }
          columns={columnsOf(used, teamOf, { chosen, toggle })}
        />
      </Card>
    </Page>
  );
}
