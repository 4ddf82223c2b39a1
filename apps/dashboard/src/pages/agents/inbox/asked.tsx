import { web } from '@troupe/contract';
import type { Device, WaitingPayment } from '@troupe/contract';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { address, ago, exactMoney } from '../../../format.ts';
import { inbox as texts } from '../../../texts/access.ts';
import { devices } from '../../../texts/operate.ts';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/card.tsx';
import { useAgentNames } from '../agents/names.ts';
import { totalWith } from './payment-total.ts';
import { useTold } from './use-marks.ts';
import type { Decided } from './use-marks.ts';

/** Who asks for what, and the two answers. */
function AskedCard({
  title,
  name,
  facts,
  error,
  children,
}: {
  title: ReactNode;
  name: string;
  facts: string;
  error: Error | null;
  children: ReactNode;
}) {
  return (
    <div role="group" aria-label={name} className="flex min-w-0 flex-col gap-2">
      <p className="font-medium break-words" dir="auto">
        {title}
      </p>
      <p className="text-[0.9rem] break-words text-ink-soft">{facts}</p>
      {error && <Notice tone="danger">{error.message}</Notice>}
      <div className="flex flex-wrap gap-2">{children}</div>
    </div>
  );
}

/** A phone or computer that wants to talk to an agent. */
export function DeviceItem({ item: { id, name, agentId, ip, firstSeen }, onDecided }: Decided<Device>) {
  const { nameOf } = useAgentNames();
  const tell = useTold(onDecided);
  const decide = useSend(web.devices.change, {
    refresh: [web.devices.list, web.notices.list],
    done: (_, { body }) => tell(devices.done[body.action]!),
  });
  const act = (action: 'approve' | 'deny') => () => decide.mutate({ body: { deviceId: id, action } });
  const title = texts.pairs(name, agentId ? nameOf(agentId) : '');
  return (
    <AskedCard title={title} name={title} facts={texts.seen(ip, ago(firstSeen))} error={decide.error}>
      <Button kind="primary" data-act="a" disabled={decide.isPending} onClick={act('approve')}>
        {devices.approve}
      </Button>
      <Button data-act="r" disabled={decide.isPending} onClick={act('deny')}>
        {devices.deny}
      </Button>
    </AskedCard>
  );
}

/** Money that an agent may not spend on its own. No key pays: it leads to the button. */
export function PaymentItem({ item, onDecided }: Decided<WaitingPayment>) {
  const { id, agentId, agentName, amount, recipient, createdAt } = item;
  const policy = useCall(web.policy.get, { params: { id: agentId } }).data;
  const tell = useTold(onDecided);
  const decide = useSend(web.policy.decidePayment, {
    refresh: [web.inbox.get, web.policy.get, web.policy.listPayments, web.notices.list, web.ledger.get],
    done: (_, { body }) => tell(body.decision === 'approve' ? texts.paid : texts.refused),
  });
  const act = (decision: 'approve' | 'deny') => () =>
    decide.mutate({ params: { id: agentId, paymentId: id }, body: { decision } });
  const title = texts.pays(agentName, exactMoney(amount));
  const facts = [texts.payee(address(recipient), ago(createdAt)), policy && totalWith(amount, policy)];
  const link = (
    <Link to="/dashboard/policy" search={{ agent: agentId } as never} className="link">
      {title}
    </Link>
  );
  return (
    <AskedCard title={link} name={title} facts={facts.filter(Boolean).join(' ')} error={decide.error}>
      <Button kind="primary" data-act="a" data-money busy={decide.isPending} onClick={act('approve')}>
        {texts.pay(exactMoney(amount))}
      </Button>
      <Button data-act="r" disabled={decide.isPending} onClick={act('deny')}>
        {texts.refuse}
      </Button>
    </AskedCard>
  );
}
