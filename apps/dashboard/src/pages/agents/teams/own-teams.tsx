import { web } from '@troupe/contract';
import { readTeamYaml } from '@troupe/domain/team-yaml';
import { lazy, Suspense, useState } from 'react';
import { Link } from '@tanstack/react-router';
import { useCall } from '../../../api.ts';
import { ago } from '../../../format.ts';
import { agentStates } from '../../../texts/agent-states.ts';
import { teams as texts } from '../../../texts/teams.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { Card, Status } from '../../../ui/card.tsx';
import { Mask } from '../../../ui/icons.tsx';
import { Empty, Lines, Loaded } from '../../../ui/states.tsx';
import { Delegation } from './delegation.tsx';
import { Pot } from './pot.tsx';
import { TeamRun } from './team-run.tsx';

// Few look at it: loaded when it is opened.
const Code = lazy(() => import('../../../ui/code.tsx').then((part) => ({ default: part.Code })));

/** Teams that run: who is in them, how each is, and the document that they run from. */
export function OwnTeams() {
  const read = useCall(web.teams.list, {});
  return (
    <Loaded from={read}>
      {({ teams }) =>
        teams.length === 0 ? (
          <Card>
            <Empty title={texts.noTeams}>{texts.noTeamsHint}</Empty>
          </Card>
        ) : (
          <ul className="flex flex-col gap-5">
            {teams.map((team) => (
              <li key={team.teamId}>
                <TeamCard {...team} />
              </li>
            ))}
          </ul>
        )
      }
    </Loaded>
  );
}

interface TeamView {
  teamId: string;
  name: string;
  createdAt: string;
  yaml_config: string;
  agents: { agentId: string; name: string; status: string }[];
}

function TeamCard({ teamId, name, createdAt, yaml_config: yaml, agents }: TeamView) {
  const reading = readTeamYaml(yaml);
  // The document's first agent leads.
  const lead = agents.find(({ name: agent }) => reading.ok && agent === reading.team.agents[0]?.name) ?? agents[0];
  return (
    <Card
      title={name}
      hint={texts.made(texts.agents(agents.length), ago(createdAt))}
      actions={
        lead && (
          <LinkButton kind="primary" icon="chat" to="/dashboard/agents/$id" params={{ id: lead.agentId } as never}>
            {texts.openLead}
          </LinkButton>
        )
      }
    >
      <div className="grid items-start gap-5 lg:grid-cols-2">
        <ul className="divide-y divide-line">
          {agents
            .toSorted((a, b) => Number(b === lead) - Number(a === lead))
            .map((agent) => (
              <li key={agent.agentId} className="py-2">
                <Link
                  to="/dashboard/agents/$id"
                  params={{ id: agent.agentId } as never}
                  className="flex items-center gap-3"
                >
                  <Mask seed={agent.agentId} size={30} />
                  <span className="min-w-0 flex-1 truncate">
                    <span className="font-medium hover:underline">{agent.name}</span>
                    {agent === lead && <span className="ml-2 text-[0.85rem] text-ink-faint">{texts.leads}</span>}
                  </span>
                  <Status value={agent.status} text={agentStates[agent.status]} />
                </Link>
              </li>
            ))}
        </ul>
        {reading.ok && <Delegation team={reading.team} />}
      </div>
      <Pot teamId={teamId} team={name} />
      <TeamRun agents={agents} />
      <Document yaml={yaml} />
    </Card>
  );
}

function Document({ yaml }: { yaml: string }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details className="mt-4" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary className="cursor-pointer text-ink-soft">{texts.showYaml}</summary>
      <div className="mt-3">
        {isOpen && (
          <Suspense fallback={<Lines rows={4} />}>
            <Code label={texts.yaml} text={yaml} tall />
          </Suspense>
        )}
      </div>
    </details>
  );
}
