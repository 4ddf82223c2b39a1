import { teamFromTemplate, type Team, type TeamTemplate } from '@troupe/domain';
import { readTeamYaml, teamYaml } from '@troupe/domain/team-yaml';
import { useDeferredValue, useMemo } from 'react';
import type { ComponentProps } from 'react';
import { teams as texts, toolNames } from '../../../texts/teams.ts';
import { Button } from '../../../ui/button.tsx';
import { Badge, Card, Notice } from '../../../ui/card.tsx';
import { TextArea } from '../../../ui/field.tsx';
import { LeftOff } from '../../../ui/use-unsaved.tsx';
import { Delegation } from './delegation.tsx';
import { Notes } from './notes.tsx';

/** A team in YAML, checked while it is written by the same rules that the platform runs it by. */
export function TeamEditor({
  template,
  left,
  yaml: written,
  onChange,
  onStart,
}: {
  /** What is there until something else is written. */
  template: TeamTemplate;
  /** What was written when the page was left. */
  left: ComponentProps<typeof LeftOff>['of'] | undefined;
  yaml: string | undefined;
  onChange: (yaml: string) => void;
  onStart: (yaml: string) => void;
}) {
  const yaml = useMemo(() => written ?? teamYaml(teamFromTemplate(template)), [written, template]);
  const text = useDeferredValue(yaml);
  const reading = useMemo(() => readTeamYaml(text), [text]);
  return (
    <div className="grid items-start gap-5 lg:grid-cols-2">
      <Card title={texts.yaml} hint={texts.yamlHint}>
        {left && <LeftOff of={left} />}
        <TextArea
          label={texts.yaml}
          hideLabel
          mono
          rows={26}
          spellCheck={false}
          value={yaml}
          onChange={({ target }) => onChange(target.value)}
          error={reading.ok ? null : reading.error}
        />
        <div className="mt-4 flex flex-wrap items-center gap-3">
          <Button kind="primary" disabled={!reading.ok} onClick={() => onStart(yaml)}>
            {texts.start}
          </Button>
          {reading.ok && <span className="text-ok">{texts.valid(reading.team.agents.length)}</span>}
        </div>
      </Card>
      <Card title={texts.picture}>
        {reading.ok ? (
          <div className="flex flex-col gap-6">
            <Notes notCarried={reading.notCarried} toGive={reading.toGive} />
            <Delegation team={reading.team} />
            <Members team={reading.team} />
          </div>
        ) : (
          <Notice tone="spot">{reading.error}</Notice>
        )}
      </Card>
    </div>
  );
}

function Members({ team }: { team: Team }) {
  return (
    <ul className="divide-y divide-line">
      {team.agents.map((agent) => (
        <li key={agent.name} className="flex flex-col gap-1 py-3">
          <p className="flex flex-wrap items-baseline justify-between gap-2">
            <span className="font-medium">{agent.role}</span>
            <span className="font-mono text-[0.8rem] text-ink-faint">{agent.model}</span>
          </p>
          {agent.description && <p className="text-ink-soft">{agent.description}</p>}
          <p className="flex flex-wrap gap-1">
            {agent.tools.map((tool) => (
              <Badge key={tool}>{toolNames[tool] ?? tool}</Badge>
            ))}
          </p>
        </li>
      ))}
    </ul>
  );
}
