import { web } from '@troupe/contract';
import type { Webhook, WebhookDelivery } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { moment } from '../../../format.ts';
import { webhooks as texts } from '../../../texts/webhooks.ts';
import { useAsk } from '../../../ui/ask.ts';
import { Button } from '../../../ui/button.tsx';
import { Status } from '../../../ui/card.tsx';
import { Confirm, Dialog } from '../../../ui/dialog.tsx';
import { Refused } from '../../../ui/form.tsx';
import { Empty, Loaded } from '../../../ui/states.tsx';
import { useSay } from '../../../ui/toast.tsx';

/** While one is on its way it is looked at again. */
const AGAIN_MS = 2000;

/** What an address was told, and trying it. */
export function Deliveries({
  webhook: { id, url },
  onClose,
  onSecret,
}: {
  webhook: Webhook;
  onClose: () => void;
  onSecret: (secret: string) => void;
}) {
  const say = useSay();
  const [isMoving, setMoving] = useState(false);
  const read = useCall(web.webhooks.listDeliveries, { params: { id }, query: {} }, isMoving ? { every: AGAIN_MS } : {});
  const pending = read.data?.deliveries.some(({ status }) => status === 'pending') ?? false;
  if (pending !== isMoving) setMoving(pending);
  const refresh = [web.webhooks.listDeliveries];
  const test = useSend(web.webhooks.test, { refresh, done: () => say(texts.tested) });
  const replay = useSend(web.webhooks.replay, { refresh, done: () => say(texts.replayed) });
  const rotate = useAsk(web.webhooks.rotate, (one: string) => ({ params: { id: one } }), {
    done: ({ secret }) => {
      onClose();
      onSecret(secret);
    },
  });
  return (
    <Dialog open onClose={onClose} title={texts.logNamed(url)} hint={texts.logHint} wide>
      <div className="flex flex-col gap-4">
        <div className="flex flex-wrap gap-2">
          <Button icon="send" busy={test.isPending} onClick={() => test.mutate({ params: { id } })}>
            {texts.test}
          </Button>
          <Button icon="key" onClick={() => rotate.ask(id)}>
            {texts.rotate}
          </Button>
        </div>
        <Refused error={test.error ?? replay.error} />
        <Loaded from={read}>
          {({ deliveries }) =>
            deliveries.length === 0 ? (
              <Empty title={texts.noLog} />
            ) : (
              <ol className="flex flex-col gap-2">
                {deliveries.map((delivery) => (
                  <li key={delivery.id} className="rounded-xl border border-line px-4 py-3">
                    <Told
                      delivery={delivery}
                      onReplay={() => replay.mutate({ params: { id, deliveryId: delivery.id } })}
                    />
                  </li>
                ))}
              </ol>
            )
          }
        </Loaded>
      </div>
      <Confirm {...rotate.confirm} title={texts.rotateTitle} losses={texts.rotateLoss} action={texts.rotate} harmless />
    </Dialog>
  );
}

function Told({ delivery, onReplay }: { delivery: WebhookDelivery; onReplay: () => void }) {
  const { type, at, status, attempts, answered, problem } = delivery;
  // What went wrong says what was answered, too.
  const facts = [texts.attempts(attempts), ...(answered === null || problem ? [] : [texts.answered(answered)])];
  return (
    <div className="flex flex-wrap items-center justify-between gap-2">
      <span className="min-w-0">
        <span className="block font-medium">
          {type === 'webhook.test' ? texts.testEvent : (texts.eventNames[type] ?? type)}
        </span>
        <span className="num block text-[0.85rem] text-ink-faint">
          {moment(at)} · {facts.join(', ')}
        </span>
        {problem && <span className="block text-[0.87rem] break-words text-danger">{problem}</span>}
      </span>
      <span className="flex items-center gap-3">
        <Status value={status} text={texts.states[status]} />
        {status !== 'pending' && (
          <Button small onClick={onReplay}>
            {texts.replay}
          </Button>
        )}
      </span>
    </div>
  );
}
