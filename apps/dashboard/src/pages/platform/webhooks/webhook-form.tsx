import { web, WEBHOOK_EVENTS } from '@troupe/contract';
import type { Webhook, WebhookEvent } from '@troupe/contract';
import { useState } from 'react';
import { useSend } from '../../../api.ts';
import { webhooks as texts } from '../../../texts/webhooks.ts';
import { Dialog, DialogEnd } from '../../../ui/dialog.tsx';
import { CheckField, PickMany, TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { useSay } from '../../../ui/toast.tsx';

const FIRST: WebhookEvent[] = ['run.finished', 'approval.waiting', 'task.failed'];

interface Props {
  /** Undefined: a new one. */
  webhook: Webhook | undefined;
  onClose: () => void;
  onSecret: (secret: string) => void;
}

function useSaving({ webhook, onClose, onSecret }: Props) {
  const say = useSay();
  const refresh = [web.webhooks.list];
  const create = useSend(web.webhooks.create, {
    refresh,
    done: ({ secret }) => {
      onClose();
      onSecret(secret);
    },
  });
  const update = useSend(web.webhooks.update, {
    refresh,
    done: () => {
      onClose();
      say(texts.saved);
    },
  });
  return {
    send: webhook ? update : create,
    save(url: string, chosen: string[], enabled: boolean) {
      const events = WEBHOOK_EVENTS.filter((event) => chosen.includes(event));
      if (webhook) update.mutate({ params: { id: webhook.id }, body: { url, events, enabled } });
      else create.mutate({ body: { url, events } });
    },
  };
}

export function WebhookForm(props: Props) {
  const { webhook, onClose } = props;
  const [url, setUrl] = useState(webhook?.url ?? '');
  const [events, setEvents] = useState<string[]>(webhook?.events ?? FIRST);
  const [enabled, setEnabled] = useState(webhook?.enabled ?? true);
  const { send, save } = useSaving(props);
  return (
    <Dialog open onClose={onClose} title={webhook ? texts.editNamed(webhook.url) : texts.new} wide>
      <Form error={send.error} fields={['url']} onSubmit={() => save(url, events, enabled)}>
        <TextField
          label={texts.url}
          hint={texts.urlHint}
          name="url"
          type="url"
          placeholder="https://example.com/hooks"
          required
          value={url}
          onChange={({ target }) => setUrl(target.value)}
        />
        <PickMany
          label={texts.events}
          value={events}
          onChange={setEvents}
          choices={WEBHOOK_EVENTS.map((event) => ({
            value: event,
            label: texts.eventNames[event] ?? event,
            hint: event,
          }))}
        />
        {webhook && (
          <CheckField label={texts.isOn} checked={enabled} onChange={({ target }) => setEnabled(target.checked)} />
        )}
        <DialogEnd send={send} onClose={onClose} action={webhook ? texts.save : texts.create} />
      </Form>
    </Dialog>
  );
}
