import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { teamFromTemplate } from '@troupe/domain';
import { readTeamYaml } from '@troupe/domain/team-yaml';
import type { Team, TeamTemplate } from '@troupe/domain';
import { useState } from 'react';
import { statusOf, useCall, useSend } from '../../../api.ts';
import { planName } from '../../../format.ts';
import { agentStates } from '../../../texts/agent-states.ts';
import { teams as texts } from '../../../texts/teams.ts';
import { states } from '../../../texts/common.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Notice, Status } from '../../../ui/card.tsx';
import { Code } from '../../../ui/code.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { SelectField } from '../../../ui/field.tsx';
import { Delegation } from './delegation.tsx';
import { Notes } from './notes.tsx';

export type TeamWish = { template: TeamTemplate } | { yaml: string };

const PLANS = ['collective', 'label', 'network'] as const;
type TeamPlan = (typeof PLANS)[number];

/** Asks once, starts the team, shows what came of it agent by agent. */
export function StartTeam({
  wish,
  onStarted,
  onClose,
}: {
  wish: TeamWish;
  onStarted: () => void;
  onClose: () => void;
}) {
  const reads = useCall(web.settings.get, {});
  const settings = reads.data;
  const own = PLANS.find((plan) => plan === settings?.plan);
  const [chosen, setChosen] = useState<TeamPlan>();
  const plan = chosen ?? own ?? 'collective';
  const send = useSend(web.teams.provision, { refresh: [web.agents.list, web.teams.list], done: onStarted });
  const reading = 'template' in wish ? undefined : readTeamYaml(wish.yaml);
  const team = 'template' in wish ? teamFromTemplate(wish.template) : reading?.ok ? reading.team : undefined;
  if (!team) return null;
  const start = () =>
    send.mutate({
      body: 'template' in wish ? { plan, templateKey: wish.template.key } : { plan, yaml_config: wish.yaml },
    });
  if (send.data) return <Result team={team} result={send.data} onClose={onClose} />;
  return (
    <Dialog open onClose={onClose} title={texts.confirmTitle(team.name)} hint={texts.confirmText(team.agents.length)}>
      <div className="flex flex-col gap-5">
        <Delegation team={team} />
        {reading?.ok && <Notes notCarried={reading.notCarried} toGive={reading.toGive} />}
        <SelectField
          label={texts.plan}
          hint={texts.planHint}
          value={plan}
          onChange={({ target }) => setChosen(target.value as TeamPlan)}
          choices={PLANS.map((value) => ({ value, label: planName(value) }))}
        />
        {send.error && (
          <Notice tone="danger">
            <p>{send.error.message}</p>
            {settings?.plan !== 'network' && [402, 403, 429].includes(statusOf(send.error) ?? 0) && (
              <LinkButton small className="mt-2" to="/dashboard/billing">
                {texts.seePlans}
              </LinkButton>
            )}
          </Notice>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{states.cancel}</Button>
          {/* Which plan is offered is known by then. */}
          <Button kind="primary" busy={send.isPending} disabled={reads.isPending} onClick={start}>
            {texts.start}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

type TeamResult = TypesOf<typeof web.teams.provision>['reply'];

function Result({ team, result, onClose }: { team: Team; result: TeamResult; onClose: () => void }) {
  const running = result.agents.filter(({ status }) => status === 'running').length;
  return (
    <Dialog open onClose={onClose} title={texts.started} hint={texts.result(running, result.agents.length)} wide>
      <div className="flex flex-col gap-4">
        <ul className="divide-y divide-line">
          {result.agents.map((agent, index) => (
            <li key={agent.container} className="flex items-center justify-between gap-3 py-2">
              <span className="min-w-0">
                <span className="block font-medium break-words" title={agent.container}>
                  {team.agents[index]?.name}
                </span>
                <span className="block text-[0.87rem] text-ink-soft">{team.agents[index]?.role}</span>
                {agent.error && <span className="block text-[0.87rem] text-danger">{agent.error}</span>}
              </span>
              <Status value={agent.status} text={agentStates[agent.status]} />
            </li>
          ))}
        </ul>
        <Code label={texts.showYaml} text={result.yaml_config} />
        <div className="flex justify-end">
          {result.agents[0] && (
            <LinkButton kind="primary" to="/dashboard/agents/$id" params={{ id: result.agents[0].agentId } as never}>
              {texts.openLead}
            </LinkButton>
          )}
        </div>
      </div>
    </Dialog>
  );
}
