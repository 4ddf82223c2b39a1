import { TEAM_TEMPLATES, templateList } from '@troupe/domain';
import type { TeamTemplate } from '@troupe/domain';
import { useState } from 'react';
import { teams as texts, toolNames } from '../../../texts/teams.ts';
import { Button } from '../../../ui/button.tsx';
import { Badge } from '../../../ui/card.tsx';
import { Mask } from '../../../ui/icons.tsx';
import { Segments } from '../../../ui/tabs.tsx';

/** The templates that come with the platform, by category. */
export function Gallery({
  onUse,
  onCustomise,
}: {
  onUse: (template: TeamTemplate) => void;
  onCustomise: (template: TeamTemplate) => void;
}) {
  const { categories } = templateList();
  const [category, setCategory] = useState('');
  const keys = categories.find(({ key }) => key === category)?.templates;
  const shown = TEAM_TEMPLATES.filter(({ key }) => !keys || keys.includes(key));
  return (
    <div className="flex flex-col gap-5">
      <div className="overflow-x-auto">
        <Segments
          label={texts.category}
          value={category}
          onChange={setCategory}
          choices={[{ value: '', label: texts.all }, ...categories.map(({ key, label }) => ({ value: key, label }))]}
        />
      </div>
      <ul className="grid gap-4 sm:grid-cols-2 xl:grid-cols-3">
        {shown.map((template) => (
          <li key={template.key} className="flex flex-col rounded-2xl border border-line bg-surface p-5 shadow-low">
            <h2 className="text-[1.2rem] font-semibold">{template.name}</h2>
            <ul className="my-4 flex flex-1 flex-col gap-3">
              {template.agents.map((agent) => (
                <li key={agent.name} className="flex gap-3">
                  <Mask seed={`${template.key}/${agent.name}`} size={32} />
                  <div className="min-w-0">
                    <p className="font-medium">{agent.role}</p>
                    <p className="mt-1 flex flex-wrap gap-1">
                      {agent.tools.map((tool) => (
                        <Badge key={tool}>{toolNames[tool] ?? tool}</Badge>
                      ))}
                    </p>
                  </div>
                </li>
              ))}
            </ul>
            <div className="flex flex-wrap gap-2">
              <Button kind="primary" aria-label={texts.useNamed(template.name)} onClick={() => onUse(template)}>
                {texts.use}
              </Button>
              <Button aria-label={texts.customiseNamed(template.name)} onClick={() => onCustomise(template)}>
                {texts.customise}
              </Button>
            </div>
          </li>
        ))}
      </ul>
    </div>
  );
}
