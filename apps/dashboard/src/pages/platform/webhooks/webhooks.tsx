import { web } from '@troupe/contract';
import type { Webhook } from '@troupe/contract';
import { useState } from 'react';
import { useCall } from '../../../api.ts';
import { states } from '../../../texts/common.ts';
import { webhooks as texts } from '../../../texts/webhooks.ts';
import { useAsk } from '../../../ui/ask.ts';
import { Button } from '../../../ui/button.tsx';
import { Badge, Card } from '../../../ui/card.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { Page } from '../../../ui/page.tsx';
import { Empty } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';
import type { Column } from '../../../ui/table.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { FreshKey } from '../../identity/fresh-key.tsx';
import { Deliveries } from './deliveries.tsx';
import { WebhookForm } from './webhook-form.tsx';

interface Doing {
  edit: (webhook: Webhook) => void;
  look: (webhook: Webhook) => void;
  remove: (webhook: Webhook) => void;
}

const columnsOf = ({ edit, look, remove }: Doing): Column<Webhook>[] => [
  { key: 'url', header: texts.url, free: true, cell: ({ url }) => <span className="break-all">{url}</span> },
  {
    key: 'events',
    header: texts.events,
    free: true,
    cell: ({ events }) => events.map((event) => texts.eventNames[event] ?? event).join(', '),
  },
  {
    key: 'state',
    header: texts.state,
    cell: ({ enabled }) => <Badge tone={enabled ? 'ok' : 'neutral'}>{enabled ? texts.on : texts.off}</Badge>,
  },
  {
    key: 'do',
    header: '',
    end: true,
    cell: (webhook) => (
      <span className="inline-flex flex-wrap justify-end gap-2">
        <Button small onClick={() => look(webhook)}>
          {texts.log}
        </Button>
        <Button small onClick={() => edit(webhook)}>
          {texts.edit}
        </Button>
        <Button small kind="danger" onClick={() => remove(webhook)}>
          {states.delete}
        </Button>
      </span>
    ),
  },
];

export default function Webhooks() {
  const read = useCall(web.webhooks.list, {});
  const [editing, setEditing] = useState<Webhook | 'new'>();
  const [looking, setLooking] = useState<Webhook>();
  const [secret, setSecret] = useState<string>();
  const say = useSay();
  const remove = useAsk(web.webhooks.remove, ({ id }: Webhook) => ({ params: { id } }), {
    refresh: [web.webhooks.list],
    done: () => say(texts.removed),
  });
  return (
    <Page
      title={texts.title}
      lead={texts.lead}
      actions={
        <Button kind="primary" icon="plus" onClick={() => setEditing('new')}>
          {texts.new}
        </Button>
      }
    >
      <Card flush className="overflow-hidden">
        <Table
          label={texts.title}
          rows={read.data?.webhooks}
          rowKey={({ id }) => id}
          error={read.error}
          retry={() => void read.refetch()}
          empty={<Empty title={texts.none}>{texts.noneHint}</Empty>}
          columns={columnsOf({ edit: setEditing, look: setLooking, remove: remove.ask })}
        />
      </Card>
      {editing && (
        <WebhookForm
          webhook={editing === 'new' ? undefined : editing}
          onClose={() => setEditing(undefined)}
          onSecret={setSecret}
        />
      )}
      {looking && <Deliveries webhook={looking} onClose={() => setLooking(undefined)} onSecret={setSecret} />}
      <FreshKey title={texts.secret} hint={texts.secretHint} secret={secret} onClose={() => setSecret(undefined)} />
      <Confirm
        {...remove.confirm}
        title={texts.removeTitle(remove.subject?.url ?? '')}
        losses={texts.removeLoss}
        action={states.delete}
      />
    </Page>
  );
}
