import { web } from '@troupe/contract';
import { useNavigate } from '@tanstack/react-router';
import { statusOf, useCall, useSend } from '../../../api.ts';
import { create as texts } from '../../../texts/agents.ts';
import { toolNames } from '../../../texts/teams.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Card, Fold } from '../../../ui/card.tsx';
import { TextArea, TextField } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { Page } from '../../../ui/page.tsx';
import { LeftOff, useUnsaved } from '../../../ui/use-unsaved.tsx';
import { AccessCard, useAccess } from '../../identity/access.tsx';
import { ModelField } from '../models.tsx';
import { CHANNELS, NEW_AGENT, provisionBody } from './new-agent.ts';
import type { NewAgent } from './new-agent.ts';
import { ToolPicker } from './tool-picker.tsx';

/** Refusals that another plan would lift. */
const BY_PLAN = new Set([402, 403, 429]);

interface Part {
  form: NewAgent;
  set: (change: Partial<NewAgent>) => void;
}

export default function CreateAgent() {
  const access = useAccess().data;
  const isOutside = access && access.state !== 'member';
  return (
    <Page title={texts.title} back={{ to: '/dashboard/agents', label: texts.back }}>
      {isOutside ? (
        <AccessCard />
      ) : (
        <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_18rem]">
          <AgentForm />
          <Card title={texts.team} hint={texts.teamHint}>
            <LinkButton to="/dashboard/teams" icon="teams">
              {texts.teamLink}
            </LinkButton>
          </Card>
        </div>
      )}
    </Page>
  );
}

function AgentForm() {
  const navigate = useNavigate();
  const models = useCall(web.models.list, {});
  const offered = models.data;
  const unsaved = useUnsaved('agent', NEW_AGENT, ['tokens']);
  const { value: typed, set } = unsaved;
  const form = { ...typed, model: typed.model ?? offered?.default };
  const send = useSend(web.agents.provision, {
    refresh: [web.agents.list],
    done: ({ agent }) => {
      unsaved.clear();
      void navigate({ to: '/dashboard/agents/$id', params: { id: agent.id } as never });
    },
  });
  return (
    <Form
      className="flex flex-col gap-5"
      error={send.error}
      fields={['name']}
      onSubmit={() => send.mutate({ body: provisionBody(form) })}
    >
      <LeftOff of={unsaved} />
      <Who form={form} set={set}>
        <ModelField offered={offered} value={form.model} onChange={(model) => set({ model })} />
      </Who>
      <Fold title={texts.tools} hint={form.tools.map((tool) => toolNames[tool] ?? tool).join(', ') || texts.noTools}>
        <ToolPicker hideLabel value={form.tools} onChange={(tools) => set({ tools })} />
      </Fold>
      <Channels form={form} set={set} />
      <Refused error={send.error} />
      {BY_PLAN.has(statusOf(send.error) ?? 0) && (
        <div>
          <LinkButton small to="/dashboard/billing">
            {texts.seePlans}
          </LinkButton>
        </div>
      )}
      <div className="max-md:sticky max-md:bottom-[4.5rem]">
        {/* What is made is what is shown: also when somebody is faster than the list of models. */}
        <Button
          kind="primary"
          type="submit"
          className="max-md:w-full max-md:shadow-high"
          busy={send.isPending}
          disabled={models.isPending}
        >
          {texts.submit}
        </Button>
      </div>
    </Form>
  );
}

/** What it is called, what it thinks with and what it is for. */
function Who({ form, set, children: model }: Part & { children: React.ReactNode }) {
  return (
    <Card title={texts.who}>
      <div className="flex flex-col gap-4">
        <TextField
          label={texts.name}
          hint={texts.nameHint}
          placeholder={texts.namePlaceholder}
          name="name"
          required
          autoFocus
          value={form.name}
          onChange={({ target }) => set({ name: target.value })}
        />
        {model}
        <TextArea
          label={texts.instruction}
          hint={texts.instructionHint}
          placeholder={texts.instructionPlaceholder}
          rows={5}
          value={form.instruction}
          onChange={({ target }) => set({ instruction: target.value })}
        />
      </div>
    </Card>
  );
}

function Channels({ form: { tokens }, set }: Part) {
  return (
    <Fold title={texts.channels} hint={texts.channelsHint}>
      <div className="grid gap-4 sm:grid-cols-3">
        {CHANNELS.map((key) => (
          <TextField
            key={key}
            label={texts[key]}
            type="password"
            autoComplete="off"
            value={tokens[key] ?? ''}
            onChange={({ target }) => set({ tokens: { ...tokens, [key]: target.value } })}
          />
        ))}
      </div>
    </Fold>
  );
}
