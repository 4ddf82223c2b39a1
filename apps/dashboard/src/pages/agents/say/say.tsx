import { web } from '@troupe/contract';
import type { SaidPlan } from '@troupe/contract';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { codeOf, useSend } from '../../../api.ts';
import { forget, keep, kept } from '../../../keeping.ts';
import { say as texts } from '../../../texts/say.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { TextArea } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { Page } from '../../../ui/page.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { AccessCard, useAccess } from '../../identity/access.tsx';
import { DRAFT, readDraft } from './draft.ts';
import type { Draft } from './draft.ts';
import { PlanForm } from './plan-form.tsx';
import { Tried, TryButton, useTrial } from './trial.tsx';

const zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

export default function SayIt() {
  const access = useAccess().data;
  const isOutside = access && access.state !== 'member';
  return (
    <Page title={texts.title} lead={texts.lead}>
      {isOutside ? <AccessCard /> : <Saying />}
    </Page>
  );
}

/** The draft, kept at every change. */
function useDraft() {
  const [draft, setDraft] = useState<Draft>(() => readDraft(kept(DRAFT)));
  const set = (change: Partial<Draft>) => {
    const { isAsked: _, ...next } = { ...draft, ...change };
    keep(DRAFT, next);
    setDraft(next);
  };
  const clear = () => {
    forget(DRAFT);
    setDraft({ sentence: '' });
  };
  return { draft, set, clear };
}

function Saying() {
  const { draft, set, clear } = useDraft();
  const { sentence, planned } = draft;
  const read = useSend(web.say.plan, { done: (reply) => set({ planned: reply }) });
  const ask = (by?: 'rules') => read.mutate({ body: { sentence, timezone: zone(), ...(by && { by }) } });
  const isStarted = useRef(false);
  useEffect(() => {
    if (!draft.isAsked || isStarted.current) return;
    isStarted.current = true;
    ask();
  });
  return (
    <div className="flex flex-col gap-5">
      <Card>
        <Form error={read.error} fields={['sentence']} onSubmit={() => ask()}>
          <TextArea
            label={texts.sentence}
            name="sentence"
            placeholder={texts.placeholder}
            required
            autoFocus
            rows={planned ? 2 : 3}
            dir="auto"
            value={sentence}
            onChange={({ target }) => set({ sentence: target.value })}
          />
          <Refused error={read.error} />
          <div className="flex flex-wrap gap-2">
            <Button kind={planned ? 'plain' : 'primary'} type="submit" busy={read.isPending}>
              {read.isPending ? texts.reading : texts.read}
            </Button>
            {codeOf(read.error) === 'NO_PLAN' && <Button onClick={() => ask('rules')}>{texts.tryRules}</Button>}
            <LinkButton kind="quiet" to="/dashboard/agents/new">
              {texts.newAgent}
            </LinkButton>
          </div>
        </Form>
      </Card>
      {planned && !read.isPending && (
        <Making planned={planned} onChange={(plan) => set({ planned: { ...planned, plan } })} onDiscard={clear} />
      )}
    </div>
  );
}

function Making({
  planned,
  onChange,
  onDiscard,
}: {
  planned: NonNullable<Draft['planned']>;
  onChange: (plan: SaidPlan) => void;
  onDiscard: () => void;
}) {
  const navigate = useNavigate();
  const tell = useSay();
  const make = useSend(web.say.make, {
    refresh: [web.agents.list, web.tasks.list, web.stage.get, web.usage.getCaps],
    done: ({ agentId }, { body }) => {
      onDiscard();
      tell(texts.made(body.name));
      const isTold = body.tells && body.task;
      const search = isTold ? { tab: 'connections', connect: body.tells } : { tab: 'chat' };
      void navigate({ to: '/dashboard/agents/$id', params: { id: agentId } as never, search: search as never });
    },
  });
  const trial = useTrial();
  return (
    <PlanForm
      planned={planned}
      onChange={onChange}
      error={make.error}
      onSubmit={() => make.mutate({ body: planned.plan })}
    >
      <Refused error={make.error} />
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" type="submit" busy={make.isPending}>
          {texts.make}
        </Button>
        <TryButton planned={planned} trial={trial} />
        <Button kind="quiet" onClick={onDiscard}>
          {texts.discard}
        </Button>
      </div>
      <Tried trial={trial} plan={planned.plan} />
    </PlanForm>
  );
}
