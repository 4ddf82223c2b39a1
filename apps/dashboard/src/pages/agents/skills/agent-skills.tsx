import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { stale, useCall, useSend } from '../../../api.ts';
import { agentSkills as texts } from '../../../texts/skills.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Card, Notice } from '../../../ui/card.tsx';
import { CheckField } from '../../../ui/field.tsx';
import { Loaded } from '../../../ui/states.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { Gated } from '../evaluations/gated.tsx';

type Given = TypesOf<typeof web.skills.listOfAgent>['reply'];
type Skill = Given['skills'][number];

/** Which skills of the library an agent has. */
export function AgentSkills({ agentId }: { agentId: string }) {
  const read = useCall(web.skills.listOfAgent, { params: { id: agentId } });
  const on = read.data?.skills.filter((skill) => skill.on).length ?? 0;
  return (
    <Card
      title={texts.title}
      hint={read.data && texts.hint(on, read.data.max)}
      actions={
        <LinkButton small icon="book" to="/dashboard/skills">
          {texts.toLibrary}
        </LinkButton>
      }
    >
      <Loaded from={read}>{({ skills }) => <Switches agentId={agentId} skills={skills} />}</Loaded>
    </Card>
  );
}

function Switches({ agentId, skills }: { agentId: string; skills: Skill[] }) {
  const say = useSay();
  const nameOf = (id: string) => skills.find((skill) => skill.id === id)?.name ?? '';
  const refresh = [web.skills.listOfAgent, web.skills.list];
  const give = useSend(web.skills.give, { refresh, done: (_, { params }) => say(texts.given(nameOf(params.skillId))) });
  const take = useSend(web.skills.take, { refresh, done: (_, { params }) => say(texts.taken(nameOf(params.skillId))) });
  const isBusy = give.isPending || take.isPending;
  const error = give.error ?? take.error;
  const queries = useQueryClient();
  const [wanted, setWanted] = useState<{ skill: Skill; on: boolean }>();
  const change = (skill: Skill, on: boolean, force = false) => {
    setWanted({ skill, on });
    give.reset();
    take.reset();
    const input = { params: { id: agentId, skillId: skill.id }, ...(force && { query: { force: 'true' as const } }) };
    if (on) give.mutate({ ...input, body: { digest: skill.digest } });
    else take.mutate(input);
  };
  if (skills.length === 0) return <p className="text-ink-soft">{texts.empty}</p>;
  return (
    <div className="flex flex-col gap-4">
      {error && <Notice tone="danger">{error.message}</Notice>}
      {wanted && (
        <Gated
          key={`${wanted.skill.id} ${wanted.on}`}
          agentId={agentId}
          error={error}
          change={{ skill: { id: wanted.skill.id, on: wanted.on } }}
          onForce={() => change(wanted.skill, wanted.on, true)}
          onTaken={() => void stale(queries, ...refresh)}
        />
      )}
      {skills.map((skill) => (
        <div key={skill.id} className="flex flex-wrap items-start justify-between gap-3">
          <div className="min-w-0 flex-1">
            <CheckField
              label={skill.name}
              hint={skill.version === null ? texts.gone : skill.behind ? texts.behind : skill.description}
              checked={skill.on}
              disabled={isBusy}
              onChange={({ target }) => change(skill, target.checked)}
            />
          </div>
          {skill.behind && (
            <Button small disabled={isBusy} onClick={() => change(skill, true)}>
              {texts.update}
            </Button>
          )}
        </div>
      ))}
    </div>
  );
}
