import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useId, useState } from 'react';
import { useSend } from '../../../api.ts';
import { imports as texts, teams } from '../../../texts/teams.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Card, Notice } from '../../../ui/card.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Notes } from './notes.tsx';

type Shown = TypesOf<typeof web.imports.preview>['reply'];
type Made = TypesOf<typeof web.imports.create>['reply'];

const IMPORT_MS = 300_000;

/** What was chosen, looked at and made. */
function useImport() {
  const [file, setFile] = useState<File>();
  const [path, setPath] = useState('');
  const look = useSend(web.imports.preview, {});
  const make = useSend(web.imports.create, {
    refresh: [web.agents.list, web.teams.list, web.knowledge.list, web.skills.list],
  });
  const given = async (chosen: File) => ({
    query: { name: chosen.name.slice(0, 200), ...(path !== '' && { path }) },
    bytes: new Uint8Array(await chosen.arrayBuffer()),
    timeout: IMPORT_MS,
  });
  const again = () => {
    look.reset();
    make.reset();
  };
  const choose = (chosen: File | undefined) => {
    again();
    setFile(chosen);
  };
  const send = (what: typeof look | typeof make) => file && void given(file).then((input) => what.mutate(input));
  const name = (chosen: string) => {
    again();
    setPath(chosen);
  };
  return { file, path, look, make, choose, name, send };
}

/** Files of others: chosen, looked at, and only then made. */
export function ImportTeam() {
  const id = useId();
  const { file, path, look, make, choose, name, send } = useImport();
  if (make.data) return <Result made={make.data} />;
  const problem = make.error ?? look.error;
  return (
    <Card title={texts.title} hint={texts.hint}>
      <div className="flex flex-col gap-5">
        <div className="flex flex-col gap-1">
          <label htmlFor={id} className="font-medium">
            {texts.file}
          </label>
          <input
            id={id}
            type="file"
            accept=".yaml,.yml,.af,.json,.zip,.tar,.gz,.tgz"
            onChange={({ target }) => choose(target.files?.[0])}
          />
        </div>
        <TextField
          label={texts.path}
          hint={texts.pathHint}
          value={path}
          onChange={({ target }) => name(target.value)}
        />
        {problem && <Notice tone="danger">{problem.message}</Notice>}
        {look.data && <Found shown={look.data} />}
        <div className="flex justify-end gap-2">
          <Button disabled={!file} busy={look.isPending} onClick={() => send(look)}>
            {texts.look}
          </Button>
          {look.data && (
            <Button kind="primary" busy={make.isPending} onClick={() => send(make)}>
              {texts.make}
            </Button>
          )}
        </div>
      </div>
    </Card>
  );
}

function Found({ shown }: { shown: Shown }) {
  return (
    <div className="flex flex-col gap-4">
      <p>
        <span className="font-medium">{shown.name}</span>{' '}
        <span className="text-ink-soft">
          {texts.format}: {shown.format}
        </span>
      </p>
      <ul className="divide-y divide-line">
        {shown.agents.map(({ name, role, model }) => (
          <li key={name} className="flex flex-wrap items-baseline justify-between gap-2 py-2">
            <span className="font-medium">{role}</span>
            <span className="font-mono text-[0.8rem] text-ink-faint">{model}</span>
          </li>
        ))}
      </ul>
      <Parts shown={shown} />
      <Notes notCarried={shown.notCarried} toGive={shown.toGive} />
    </div>
  );
}

function Parts({ shown: { collections, files, memories, skills, tasks } }: { shown: Shown }) {
  const parts = {
    collections: collections.map(({ name, documents }) => texts.documents(name, documents)),
    files: files.map(({ agent, path }) => `${agent}: ${path}`),
    memories: memories.map(({ agent, key }) => `${agent}: ${key}`),
    skills,
    tasks: tasks.map(({ agent, name, cronSchedule }) => `${agent}: ${name} (${cronSchedule})`),
  };
  return (Object.keys(parts) as (keyof typeof parts)[])
    .filter((key) => parts[key].length > 0)
    .map((key) => (
      <details key={key}>
        <summary className="cursor-pointer">
          {texts.parts[key]} ({parts[key].length})
        </summary>
        <ul className="mt-1 list-disc pl-5 text-ink-soft">
          {parts[key].map((line) => (
            <li key={line} className="break-words">
              {line}
            </li>
          ))}
        </ul>
      </details>
    ));
}

function Result({ made }: { made: Made }) {
  return (
    <Card title={texts.made(made.name)} hint={teams.result(made.agents.length, made.agents.length)}>
      <div className="flex flex-col gap-4">
        <Notes notCarried={made.notCarried} toGive={made.toGive} />
        {made.agents[0] && (
          <div className="flex justify-end">
            <LinkButton kind="primary" to="/dashboard/agents/$id" params={{ id: made.agents[0].agentId } as never}>
              {teams.openLead}
            </LinkButton>
          </div>
        )}
      </div>
    </Card>
  );
}
