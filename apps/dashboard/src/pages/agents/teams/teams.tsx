import { TEAM_TEMPLATES } from '@troupe/domain';
import type { TeamTemplate } from '@troupe/domain';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { imports, teams as texts } from '../../../texts/teams.ts';
import { Page } from '../../../ui/page.tsx';
import { Tabs } from '../../../ui/tabs.tsx';
import { useUnsaved } from '../../../ui/use-unsaved.tsx';
import type { TeamWish } from './start-team.tsx';

// What reads YAML is large: loaded when it is opened.
const Gallery = lazy(() => import('./gallery.tsx').then((page) => ({ default: page.Gallery })));
const ImportTeam = lazy(() => import('./import-team.tsx').then((page) => ({ default: page.ImportTeam })));
const OwnTeams = lazy(() => import('./own-teams.tsx').then((page) => ({ default: page.OwnTeams })));
const StartTeam = lazy(() => import('./start-team.tsx').then((page) => ({ default: page.StartTeam })));
const TeamEditor = lazy(() => import('./editor.tsx').then((page) => ({ default: page.TeamEditor })));

/** Which template is changed, and into what; null: nothing is written yet. */
const WRITTEN = { template: TEAM_TEMPLATES[0]!.key, yaml: null as string | null };

export default function Teams() {
  const { tab = 'gallery' } = useSearch({ strict: false });
  const navigate = useNavigate();
  const unsaved = useUnsaved('team', WRITTEN);
  const { template: key, yaml } = unsaved.value;
  const template = TEAM_TEMPLATES.find((one) => one.key === key) ?? TEAM_TEMPLATES[0]!;
  const [wish, setWish] = useState<TeamWish>();
  const open = (next: string) => void navigate({ to: '.', search: { tab: next } as never });
  // The same template, and nothing written.
  const again = () => {
    unsaved.again();
    unsaved.set({ yaml: null });
  };
  const customise = (chosen: TeamTemplate) => {
    unsaved.set({ template: chosen.key, yaml: null });
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
            content: () => <Gallery onUse={(chosen) => setWish({ template: chosen })} onCustomise={customise} />,
          },
          {
            key: 'editor',
            label: texts.editor,
            content: () => (
              <TeamEditor
                key={key}
                template={template}
                left={yaml === null ? undefined : { isKept: unsaved.isKept, again }}
                yaml={yaml ?? undefined}
                onChange={(next) => unsaved.set({ yaml: next })}
                onStart={(written) => setWish({ yaml: written })}
              />
            ),
          },
          { key: 'import', label: imports.tab, content: () => <ImportTeam /> },
        ]}
      />
      <Suspense fallback={null}>
        {wish && (
          <StartTeam
            wish={wish}
            onStarted={() => 'yaml' in wish && unsaved.clear()}
            onClose={() => setWish(undefined)}
          />
        )}
      </Suspense>
    </Page>
  );
}
