import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useState } from 'react';
import { call, confirmWho, useCall, useSend } from '../../../api.ts';
import { count, day } from '../../../format.ts';
import { account as texts } from '../../../texts/safety.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Notice } from '../../../ui/card.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { CheckField } from '../../../ui/field.tsx';
import { Loaded } from '../../../ui/states.tsx';
import { useSay } from '../../../ui/toast.tsx';

type Closing = TypesOf<typeof web.account.getClosing>['reply'];

export function Account() {
  const read = useCall(web.account.getClosing, {});
  return (
    <div className="flex flex-col gap-5">
      <ClosedNotice />
      <ExportCard />
      <Loaded from={read}>{(closing) => (closing.eraseAt ? null : <CloseCard closing={closing} />)}</Loaded>
    </div>
  );
}

/** Nothing while the account is open. */
export function ClosedNotice() {
  const { data } = useCall(web.account.getClosing, {});
  const say = useSay();
  const keep = useSend(web.account.keep, { refresh: [web.account.getClosing], done: () => say(texts.keepDone) });
  if (!data?.eraseAt) return null;
  return (
    <Notice tone="danger">
      <span className="flex flex-wrap items-center justify-between gap-3">
        {texts.closed(day(data.eraseAt))}
        <Button small busy={keep.isPending} onClick={() => keep.mutate({})}>
          {texts.keep}
        </Button>
      </span>
    </Notice>
  );
}

function ExportCard() {
  const download = async () => {
    const { confirmedUntil } = await call(web.factors.list, {});
    // A download cannot ask by itself.
    const soon = Date.now() + 30_000;
    if (confirmedUntil !== null && Date.parse(confirmedUntil) > soon) location.assign(web.account.download.path);
    else if (await confirmWho()) location.assign(web.account.download.path);
  };
  return (
    <Card title={texts.export} hint={texts.exportHint}>
      <Button icon="installations" onClick={() => void download()}>
        {texts.download}
      </Button>
    </Card>
  );
}

function CloseCard({ closing }: { closing: Closing }) {
  const [asking, setAsking] = useState(false);
  const { agents, tasks, keys, credits, wallets, refusal, graceDays } = closing;
  const ends = [agents > 0 && texts.agents(agents), tasks > 0 && texts.tasks(tasks), keys > 0 && texts.keys(keys)];
  const lost = [
    credits > 0 && texts.credits(count(credits)),
    ...wallets.map(({ address, balance }) => texts.wallet(address, balance)),
  ];
  return (
    <Card title={texts.close} hint={texts.closeHint(graceDays)}>
      <div className="flex flex-col gap-4">
        <Sentences title={texts.ends} items={[...ends, texts.sessions]} />
        <Sentences title={texts.lost} items={lost} />
        {wallets.length > 0 && <p className="text-ink-soft">{texts.chain}</p>}
        <p className="text-ink-soft">{texts.kept}</p>
        {refusal && <Notice tone="spot">{texts.refusals[refusal]}</Notice>}
        <div>
          <Button kind="danger" disabled={refusal !== null} onClick={() => setAsking(true)}>
            {texts.close}
          </Button>
        </div>
      </div>
      {asking && <CloseDialog closing={closing} onClose={() => setAsking(false)} />}
    </Card>
  );
}

function Sentences({ title, items }: { title: string; items: (string | false)[] }) {
  const said = items.filter((one) => one !== false);
  if (said.length === 0) return null;
  return (
    <div>
      <h3 className="font-medium">{title}</h3>
      <ul className="list-disc pl-5 text-ink-soft">
        {said.map((one) => (
          <li key={one} className="wrap-anywhere">
            {one}
          </li>
        ))}
      </ul>
    </div>
  );
}

function CloseDialog({ closing, onClose }: { closing: Closing; onClose: () => void }) {
  const [giveUp, setGiveUp] = useState(false);
  const hasMoney = closing.wallets.some(({ balance }) => Number(balance) > 0);
  // The session has ended with it.
  const send = useSend(web.account.close, { done: () => location.assign('/login') });
  return (
    <Confirm
      open
      onClose={onClose}
      title={texts.title}
      losses={
        <>
          <p>{texts.closeHint(closing.graceDays)}</p>
          {hasMoney && (
            <CheckField label={texts.giveUp} checked={giveUp} onChange={({ target }) => setGiveUp(target.checked)} />
          )}
        </>
      }
      word={texts.word}
      action={texts.close}
      busy={send.isPending}
      error={send.error}
      onConfirm={() => send.mutate({ body: { giveUpMoney: giveUp } })}
    />
  );
}
