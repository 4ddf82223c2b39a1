import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { ago, moment } from '../../../format.ts';
import { passkeysWork } from '../../../passkeys.ts';
import { states } from '../../../texts/common.ts';
import { factors as texts } from '../../../texts/safety.ts';
import { useAsk } from '../../../ui/ask.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { Loaded } from '../../../ui/states.tsx';
import { Table, type Column } from '../../../ui/table.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { AddPasskey } from './add-passkey.tsx';
import { AddTotp } from './add-totp.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';

type Reply = TypesOf<typeof web.factors.list>['reply'];
type Factor = Reply['factors'][number];

const columnsOf = (setRemoving: (factor: Factor) => void): Column<Factor>[] => [
  { key: 'name', header: texts.name, cell: ({ name }) => <span className="font-medium">{name}</span> },
  { key: 'kind', header: texts.kind, cell: ({ kind }) => texts.kinds[kind] },
  { key: 'added', header: texts.added, cell: ({ createdAt }) => moment(createdAt) },
  { key: 'used', header: texts.lastUsed, cell: ({ lastUsed }) => (lastUsed ? ago(lastUsed) : states.never) },
  {
    key: 'remove',
    header: '',
    end: true,
    cell: (factor) => (
      <Button small kind="danger" aria-label={`${texts.remove} ${factor.name}`} onClick={() => setRemoving(factor)}>
        {texts.remove}
      </Button>
    ),
  },
];

export function FactorsCard() {
  const read = useCall(web.factors.list, {});
  return (
    <Card title={texts.title} hint={read.data?.factors.length ? texts.on : texts.off}>
      <Loaded from={read}>{(reply) => <Factors reply={reply} />}</Loaded>
    </Card>
  );
}

function Factors({ reply: { factors, recoveryCodesLeft, passkeys } }: { reply: Reply }) {
  const [adding, setAdding] = useState<'passkey' | 'totp'>();
  const [codes, setCodes] = useState<string[]>();
  const say = useSay();
  const added = (fresh: string[] | null) => {
    setAdding(undefined);
    if (fresh) setCodes(fresh);
    say(texts.done);
  };
  const canHavePasskeys = passkeys && passkeysWork();
  return (
    <div className="flex flex-col gap-4">
      {factors.length > 0 && <FactorTable factors={factors} />}
      <div className="flex flex-wrap items-center gap-2">
        {canHavePasskeys && (
          <Button kind={factors.length === 0 ? 'primary' : undefined} icon="plus" onClick={() => setAdding('passkey')}>
            {texts.addPasskey}
          </Button>
        )}
        <Button icon="plus" onClick={() => setAdding('totp')}>
          {texts.addTotp}
        </Button>
      </div>
      {!canHavePasskeys && <p className="text-[0.9rem] text-ink-soft">{texts.noPasskeys}</p>}
      {factors.length > 0 && <CodesLeft left={recoveryCodesLeft} onCodes={setCodes} />}
      {adding === 'passkey' && <AddPasskey onClose={() => setAdding(undefined)} onAdded={added} />}
      {adding === 'totp' && <AddTotp onClose={() => setAdding(undefined)} onAdded={added} />}
      <RecoveryCodes codes={codes} onClose={() => setCodes(undefined)} />
    </div>
  );
}

function FactorTable({ factors }: { factors: Factor[] }) {
  const say = useSay();
  const remove = useAsk(web.factors.remove, ({ id }: Factor) => ({ params: { id } }), {
    refresh: [web.factors.list],
    done: () => say(texts.removed),
  });
  return (
    <>
      <Table label={texts.list} rows={factors} rowKey={({ id }) => id} columns={columnsOf(remove.ask)} empty={null} />
      <Confirm
        {...remove.confirm}
        title={texts.removeTitle(remove.subject?.name ?? '')}
        losses={factors.length === 1 ? texts.removeLast : texts.removeLoss}
        action={texts.remove}
      />
    </>
  );
}

function CodesLeft({ left, onCodes }: { left: number; onCodes: (codes: string[]) => void }) {
  const [asking, setAsking] = useState(false);
  const renew = useSend(web.factors.makeRecoveryCodes, {
    refresh: [web.factors.list],
    done: ({ recoveryCodes }) => {
      setAsking(false);
      onCodes(recoveryCodes);
    },
  });
  return (
    <div className="flex flex-wrap items-center gap-3">
      <span className={left < 3 ? 'text-danger' : 'text-ink-soft'}>{texts.left(left)}</span>
      <Button small onClick={() => setAsking(true)}>
        {texts.renew}
      </Button>
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title={texts.renewTitle}
        losses={texts.renewLoss}
        action={texts.renew}
        busy={renew.isPending}
        error={renew.error}
        onConfirm={() => renew.mutate({})}
        harmless
      />
    </div>
  );
}
