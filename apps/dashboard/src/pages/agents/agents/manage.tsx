import { web } from '@troupe/contract';
import type { WebAgent } from '@troupe/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { urlOf, useSend } from '../../../api.ts';
import { manage as texts } from '../../../texts/agents.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Notice } from '../../../ui/card.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { forgetSteps } from '../conversations/conversation.ts';
import { tagsIn } from './tags.ts';
import { Token } from './token.tsx';
import { Verification } from './verification.tsx';

export function Manage({ agent }: { agent: WebAgent }) {
  return (
    <div className="grid items-start gap-5 lg:grid-cols-2">
      <Lifecycle agent={agent} />
      <div className="flex flex-col gap-5">
        <Rename agent={agent} />
        <Tags agent={agent} />
        <Duplicate agent={agent} />
        <Token agentId={agent.id} />
        <Verification agentId={agent.id} />
      </div>
      <Danger agent={agent} />
    </div>
  );
}

const ACTIONS = ['start', 'stop', 'restart', 'update', 'repair'] as const;

function Lifecycle({ agent }: { agent: WebAgent }) {
  const say = useSay();
  const act = useSend(web.instance.act, {
    refresh: [web.agents.get, web.agents.list],
    done: (_, { params }) => say(texts.done(texts.actions[params.action]![0])),
  });
  const stopped = agent.status === 'stopped';
  return (
    <Card title={texts.lifecycle}>
      <ul className="divide-y divide-line">
        {ACTIONS.map((action) => [action, texts.actions[action]!] as const)
          .filter(([action]) => (action === 'start' ? stopped : action === 'stop' ? !stopped : true))
          .map(([action, [label, hint]]) => (
            <li key={action} className="flex items-center justify-between gap-4 py-3">
              <span className="min-w-0">
                <span className="block font-medium">{label}</span>
                <span className="block text-[0.9rem] text-ink-soft">{hint}</span>
              </span>
              <Button
                aria-label={label}
                busy={act.isPending && act.variables.params.action === action}
                disabled={act.isPending}
                onClick={() => act.mutate({ params: { userId: agent.id, action }, body: {} })}
              >
                {label}
              </Button>
            </li>
          ))}
      </ul>
      {act.error && <Notice tone="danger">{act.error.message}</Notice>}
    </Card>
  );
}

function Rename({ agent }: { agent: WebAgent }) {
  const [name, setName] = useState(agent.name);
  const say = useSay();
  const rename = useSend(web.agents.rename, {
    refresh: [web.agents.get, web.agents.list],
    done: () => say(texts.renamed),
  });
  return (
    <Card title={texts.rename}>
      <Form
        className="flex flex-wrap items-end gap-3"
        error={rename.error}
        fields={[]}
        onSubmit={() => rename.mutate({ params: { id: agent.id }, body: { name } })}
      >
        <div className="min-w-0 flex-1">
          <TextField
            label={texts.rename}
            hideLabel
            required
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        </div>
        <Button type="submit" busy={rename.isPending} disabled={name.trim() === agent.name}>
          {texts.renameSave}
        </Button>
        <div className="basis-full empty:hidden">
          <Refused error={rename.error} />
        </div>
      </Form>
    </Card>
  );
}

function Tags({ agent }: { agent: WebAgent }) {
  const [words, setWords] = useState(agent.tags.join(', '));
  const say = useSay();
  const save = useSend(web.agents.tag, {
    refresh: [web.agents.get, web.agents.list],
    done: () => say(texts.tagged),
  });
  return (
    <Card title={texts.tags} hint={texts.tagsHint}>
      <Form
        className="flex flex-wrap items-end gap-3"
        error={save.error}
        fields={[]}
        onSubmit={() => save.mutate({ params: { id: agent.id }, body: { tags: tagsIn(words) } })}
      >
        <div className="min-w-0 flex-1">
          <TextField label={texts.tags} hideLabel value={words} onChange={({ target }) => setWords(target.value)} />
        </div>
        <Button type="submit" busy={save.isPending} disabled={tagsIn(words).join() === agent.tags.join()}>
          {texts.tagsSave}
        </Button>
        <div className="basis-full empty:hidden">
          <Refused error={save.error} />
        </div>
      </Form>
    </Card>
  );
}

function Duplicate({ agent }: { agent: WebAgent }) {
  const navigate = useNavigate();
  const say = useSay();
  const copy = useSend(web.agents.duplicate, {
    refresh: [web.agents.list],
    done: ({ agent: made }) => {
      say(texts.duplicated(made.name));
      void navigate({ to: '/dashboard/agents/$id', params: { id: made.id } as never });
    },
  });
  return (
    <Card title={texts.duplicate} hint={texts.duplicateHint}>
      <Button busy={copy.isPending} onClick={() => copy.mutate({ params: { id: agent.id }, body: {} })}>
        {texts.duplicateDo}
      </Button>
      <a
        className="ml-2 inline-flex min-h-8 items-center rounded-lg border border-line-strong/45 bg-surface px-2.5 text-[0.87rem] font-medium hover:border-line-strong"
        href={urlOf(web.teams.exportAgent, { params: { id: agent.id } })}
        download
      >
        {texts.asDocument}
      </a>
      {copy.error && <Notice tone="danger">{copy.error.message}</Notice>}
    </Card>
  );
}

function Danger({ agent }: { agent: WebAgent }) {
  const [asking, setAsking] = useState<'reset' | 'delete'>();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const say = useSay();
  const close = () => setAsking(undefined);
  const reset = useSend(web.instance.act, {
    refresh: [web.agents.get, web.conversations.list],
    done: () => {
      forgetSteps(queries, agent.id);
      close();
      say(texts.done(texts.reset));
    },
  });
  const remove = useSend(web.agents.remove, {
    done: () => {
      say(texts.deleted);
      void navigate({ to: '/dashboard/agents' });
    },
    refresh: [web.agents.list],
  });
  return (
    <Card title={texts.danger} className="border-danger/40 lg:col-span-2">
      <ul className="divide-y divide-line">
        <DangerLine hint={texts.resetHint} action={texts.reset} onAsk={() => setAsking('reset')} />
        <DangerLine hint={texts.deleteHint} action={texts.delete} onAsk={() => setAsking('delete')} />
      </ul>
      <Confirm
        open={asking === 'reset'}
        onClose={close}
        title={texts.resetTitle}
        losses={texts.resetLoss}
        action={texts.reset}
        busy={reset.isPending}
        error={reset.error}
        onConfirm={() => reset.mutate({ params: { userId: agent.id, action: 'reset-memory' }, body: {} })}
      />
      <Confirm
        open={asking === 'delete'}
        onClose={close}
        title={texts.deleteTitle(agent.name)}
        losses={texts.deleteLoss}
        action={texts.delete}
        word={agent.name}
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate({ params: { id: agent.id } })}
      />
    </Card>
  );
}

function DangerLine({ hint, action, onAsk }: { hint: string; action: string; onAsk: () => void }) {
  return (
    <li className="flex flex-wrap items-center justify-between gap-4 py-3">
      <span className="text-ink-soft">{hint}</span>
      <Button kind="danger" onClick={onAsk}>
        {action}
      </Button>
    </li>
  );
}
