import { TEAM_TEMPLATES, teamFromTemplate } from '@troupe/domain';
import { teamYaml } from '@troupe/domain/team-yaml';
import type { TeamTemplate } from '@troupe/domain';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { imports, teams as texts } from '../../../texts/teams.ts';
import { Page } from '../../../ui/page.tsx';
import { Tabs } from '../../../ui/tabs.tsx';
import { TeamEditor } from './editor.tsx';
import { Gallery } from './gallery.tsx';
import { ImportTeam } from './import-team.tsx';
import { OwnTeams } from './own-teams.tsx';
import { StartTeam } from './start-team.tsx';
import type { TeamWish } from './start-team.tsx';

export default function Teams() {
  const { tab = 'gallery' } = useSearch({ strict: false });
  const navigate = useNavigate();
  const [yaml, setYaml] = useState(() => teamYaml(teamFromTemplate(TEAM_TEMPLATES[0]!)));
  const [wish, setWish] = useState<TeamWish>();
  const open = (next: string) => void navigate({ to: '.', search: { tab: next } as never });
  const customise = (template: TeamTemplate) => {
    setYaml(teamYaml(teamFromTemplate(template)));
    open('editor');
  };
  return (
    <Page title={texts.title} lead={texts.lead}>
      <Tabs
        label={texts.title}
        value={tab}
        onChange={open}
        tabs={[
          { key: 'own', label: texts.running, content: () => <OwnTeams /> },
          {
            key: 'gallery',
            label: texts.gallery,
            content: () => <Gallery onUse={(template) => setWish({ template })} onCustomise={customise} />,
          },
          {
            key: 'editor',
            label: texts.editor,
            content: () => <TeamEditor yaml={yaml} onChange={setYaml} onStart={() => setWish({ yaml })} />,
          },
          { key: 'import', label: imports.tab, content: () => <ImportTeam /> },
        ]}
      />
      {wish && <StartTeam wish={wish} onClose={() => setWish(undefined)} />}
    </Page>
  );
}
