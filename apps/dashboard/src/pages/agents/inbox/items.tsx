import { web, NOTE_LENGTH } from '@troupe/contract';
import type { AccessRequest } from '@troupe/contract';
import { PLANS } from '@troupe/domain';
import { useState } from 'react';
import { useSend } from '../../../api.ts';
import { ago, planName } from '../../../format.ts';
import { inbox as texts } from '../../../texts/access.ts';
import { standing } from '../../../texts/standing.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Badge, Notice } from '../../../ui/card.tsx';
import { SelectField, TextField } from '../../../ui/field.tsx';
import { Mask } from '../../../ui/icons.tsx';
import { Approval } from '../conversations/approval.tsx';
import type { DecidedWith } from '../conversations/decide.ts';
import { Asked } from '../conversations/question.tsx';
import { DeviceItem, PaymentItem } from './asked.tsx';
import { PutAway } from './put-away.tsx';
import { TroubleItem } from './trouble.tsx';
import { useMark, useTold } from './use-marks.ts';
import type { Decided } from './use-marks.ts';
import { VisitorItem } from './visitor.tsx';
import type { Waiting } from './waiting.ts';

/** One thing that waits, with all that is needed to decide it, or to leave it for another time. */
export function WaitingCard({ waiting }: { waiting: Waiting }) {
  return (
    <>
      <Card waiting={waiting} />
      <div className="mt-3 -ml-2.5 flex flex-wrap gap-x-1 gap-y-2">
        {waiting.kind === 'approval' && (
          <LinkButton
            small
            kind="quiet"
            to="/dashboard/agents/$id"
            params={{ id: waiting.item.agentId } as never}
            search={{ tab: 'chat', c: waiting.item.sessionId } as never}
          >
            {texts.open}
          </LinkButton>
        )}
        <PutAway waiting={waiting} />
      </div>
    </>
  );
}

function Card({ waiting }: { waiting: Waiting }) {
  const { decided } = useMark(waiting);
  switch (waiting.kind) {
    case 'visitor':
      return <VisitorItem item={waiting.item} />;
    case 'approval':
      return <ApprovalItem item={waiting.item} onDecided={decided} />;
    case 'join':
      return <JoinItem item={waiting.item} onDecided={decided} />;
    case 'device':
      return <DeviceItem item={waiting.item} onDecided={decided} />;
    case 'payment':
      return <PaymentItem item={waiting.item} onDecided={decided} />;
    case 'trouble':
      return <TroubleItem item={waiting.item} onDecided={decided} />;
  }
}

function told({ approved, always }: DecidedWith & { approved: boolean }, isQuestion: boolean): string {
  if (!approved) return texts.refused;
  return isQuestion ? texts.answered : always ? standing.kept : texts.allowed;
}

function ApprovalItem({ item, onDecided }: Decided<Extract<Waiting, { kind: 'approval' }>['item']>) {
  const tell = useTold(onDecided);
  const decide = useSend(web.conversations.decide, {
    refresh: [web.inbox.get, web.agents.getConfig],
    done: (_, { body }) => tell(told(body, item.question !== undefined)),
  });
  const shared = {
    approvalId: item.id,
    deciding: decide.isPending,
    onDecide: (approvalId: string, approved: boolean, more: DecidedWith = {}) =>
      decide.mutate({ params: { id: item.agentId, approvalId }, body: { approved, ...more } }),
  };
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <p className="flex flex-wrap items-center gap-x-2 text-[0.9rem] text-ink-soft">
        <Mask seed={item.agentId} size={22} />
        <bdi className="min-w-0 truncate font-medium text-ink">{item.agentName}</bdi>
        <span>{ago(item.at)}</span>
      </p>
      {item.question ? (
        <Asked {...shared} question={item.question} />
      ) : (
        <Approval {...shared} agentId={item.agentId} tool={item.tool} args={item.args} />
      )}
      {decide.error && <Notice tone="danger">{decide.error.message}</Notice>}
    </div>
  );
}

function JoinItem({ item, onDecided }: Decided<AccessRequest>) {
  const tell = useTold(onDecided);
  const [plan, setPlan] = useState<(typeof PLANS)[number]>('solo');
  const [answer, setAnswer] = useState<string>();
  const decide = useSend(web.access.decide, {
    refresh: [web.access.list, web.admin.listUsers, web.notices.list],
    done: (_, { body }) => tell('grant' in body ? texts.granted(item.name) : texts.refused),
  });
  const params = { id: item.id };
  return (
    <div role="group" aria-label={texts.asks(item.name)} className="flex min-w-0 flex-col gap-2">
      <p className="font-medium break-words" dir="auto">
        {texts.asks(item.name)}
      </p>
      <Who item={item} />
      <p className="break-words whitespace-pre-wrap" dir="auto">
        {item.note || <span className="text-ink-faint">{texts.noNote}</span>}
      </p>
      {answer !== undefined && (
        <TextField
          label={texts.answer}
          maxLength={NOTE_LENGTH}
          autoFocus
          value={answer}
          onChange={({ target }) => setAnswer(target.value)}
        />
      )}
      {decide.error && <Notice tone="danger">{decide.error.message}</Notice>}
      <div className="flex flex-wrap items-end gap-2">
        <SelectField
          label={texts.plan}
          hideLabel
          value={plan}
          onChange={({ target }) => setPlan(target.value as typeof plan)}
          choices={PLANS.map((value) => ({ value, label: planName(value) }))}
        />
        <Button
          kind="primary"
          data-act="a"
          disabled={decide.isPending}
          onClick={() => decide.mutate({ params, body: { grant: plan } })}
        >
          {texts.grant}
        </Button>
        <Button
          data-act="r"
          disabled={decide.isPending}
          onClick={() =>
            answer === undefined ? setAnswer('') : decide.mutate({ params, body: { refuse: true, answer } })
          }
        >
          {texts.refuse}
        </Button>
      </div>
    </div>
  );
}

function Who({ item }: { item: AccessRequest }) {
  return (
    <p className="flex flex-wrap items-center gap-2 text-[0.9rem] text-ink-soft">
      <span className="break-all">{item.email}</span>
      <Badge tone={item.emailVerified ? 'ok' : 'neutral'}>
        {item.emailVerified ? texts.verified : texts.notVerified}
      </Badge>
      <span>{ago(item.askedAt)}</span>
    </p>
  );
}
