import { AGENT_NAME_LENGTH, web } from '@troupe/contract';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { FormEvent } from 'react';
import { statusOf, useCall, useSend } from '../../../api.ts';
import { create as texts } from '../../../texts/agents.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Card, Notice } from '../../../ui/card.tsx';
import { TextArea, TextField } from '../../../ui/field.tsx';
import { Page } from '../../../ui/page.tsx';
import { AccessCard, useAccess } from '../../identity/access.tsx';
import { ModelField } from '../models.tsx';
import { ToolPicker } from './tool-picker.tsx';

const CHANNELS = ['channelA', 'channelB', 'channelC'] as const;

export default function CreateAgent() {
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const offered = useCall(web.models.list, {}).data;
  const [chosen, setChosen] = useState<string>();
  const model = chosen ?? offered?.default;
  const [instruction, setInstruction] = useState('');
  const [tools, setTools] = useState<string[]>(['filesystem', 'think', 'todo', 'memory']);
  const [tokens, setTokens] = useState<Record<string, string>>({});
  const send = useSend(web.agents.provision, {
    refresh: [web.agents.list],
    done: ({ agent }) => void navigate({ to: '/dashboard/agents/$id', params: { id: agent.id } as never }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const channelTokens = Object.fromEntries(
      CHANNELS.filter((key) => tokens[key]).map((key) => [key.replace('channel', 'channelToken'), tokens[key]]),
    );
    send.mutate({ body: { name, model, config: { instruction, tools, ...channelTokens } } });
  };
  const back = { to: '/dashboard/agents', label: texts.back };
  const access = useAccess().data;
  if (access && access.state !== 'member') {
    return (
      <Page title={texts.title} back={back}>
        <AccessCard />
      </Page>
    );
  }
  return (
    <Page title={texts.title} back={back}>
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_18rem]">
        <form onSubmit={submit} className="flex flex-col gap-5">
          <Card title={texts.who}>
            <div className="flex flex-col gap-4">
              <TextField
                label={texts.name}
                hint={texts.nameHint}
                placeholder={texts.namePlaceholder}
                maxLength={AGENT_NAME_LENGTH}
                required
                autoFocus
                value={name}
                onChange={({ target }) => setName(target.value)}
              />
              <ModelField offered={offered} value={model} onChange={setChosen} />
              <TextArea
                label={texts.instruction}
                hint={texts.instructionHint}
                placeholder={texts.instructionPlaceholder}
                rows={5}
                value={instruction}
                onChange={({ target }) => setInstruction(target.value)}
              />
            </div>
          </Card>
          <Card>
            <ToolPicker value={tools} onChange={setTools} />
          </Card>
          <Card title={texts.channels} hint={texts.channelsHint}>
            <div className="grid gap-4 sm:grid-cols-3">
              {CHANNELS.map((key) => (
                <TextField
                  key={key}
                  label={texts[key]}
                  type="password"
                  autoComplete="off"
                  value={tokens[key] ?? ''}
                  onChange={({ target }) => setTokens({ ...tokens, [key]: target.value })}
                />
              ))}
            </div>
          </Card>
          {send.error && (
            <Notice tone="danger">
              <p>{send.error.message}</p>
              {[402, 403, 429].includes(statusOf(send.error) ?? 0) && (
                <LinkButton small className="mt-2" to="/dashboard/billing">
                  {texts.seePlans}
                </LinkButton>
              )}
            </Notice>
          )}
          <div>
            <Button kind="primary" type="submit" busy={send.isPending}>
              {texts.submit}
            </Button>
          </div>
        </form>
        <Card title={texts.team} hint={texts.teamHint}>
          <LinkButton to="/dashboard/teams" icon="teams">
            {texts.teamLink}
          </LinkButton>
        </Card>
      </div>
    </Page>
  );
}
