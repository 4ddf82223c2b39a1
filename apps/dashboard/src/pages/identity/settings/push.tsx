import { web } from '@troupe/contract';
import type { PushSubscriptionRow, TypesOf } from '@troupe/contract';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { call, stale, useCall, useSend } from '../../../api.ts';
import { ago } from '../../../format.ts';
import { beginPush, deviceName, endPush, lookAtPush } from '../../../push.ts';
import { push as texts } from '../../../texts/account.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Notice } from '../../../ui/card.tsx';
import { CheckField } from '../../../ui/field.tsx';
import { Loaded } from '../../../ui/states.tsx';
import { useSay } from '../../../ui/toast.tsx';

type Reply = TypesOf<typeof web.push.get>['reply'];

const HERE = ['push of this browser'];

/** Messages on this device and others, by kind. */
export function PushCard() {
  const read = useCall(web.push.get, {});
  return (
    <Card title={texts.title} hint={texts.hint}>
      <Loaded from={read}>
        {(reply) => (
          <div className="flex flex-col gap-5">
            <ThisDevice reply={reply} />
            <Kinds kinds={reply.kinds} />
            {reply.subscriptions.length > 0 && <Devices devices={reply.subscriptions} />}
          </div>
        )}
      </Loaded>
    </Card>
  );
}

/** What this browser is told, and whether. */
function useHere({ publicKey, subscriptions }: Reply) {
  const queries = useQueryClient();
  const look = useQuery({ queryKey: HERE, queryFn: lookAtPush });
  const known = subscriptions.find(({ endpoint }) => endpoint === look.data?.endpoint);
  const change = useMutation({
    mutationFn: async (on: boolean) => {
      if (!on) {
        if (known) await call(web.push.unsubscribe, { params: { id: known.id } });
        return endPush();
      }
      const made = await beginPush(publicKey);
      if (made) await call(web.push.subscribe, { body: { ...made, name: deviceName(navigator.userAgent) } });
    },
    onSettled: async () => {
      await stale(queries, web.push.get);
      await queries.invalidateQueries({ queryKey: HERE });
    },
  });
  const state = look.data?.state === 'on' && !known ? 'off' : look.data?.state;
  return { state, change };
}

function ThisDevice({ reply }: { reply: Reply }) {
  const { state, change } = useHere(reply);
  if (state === undefined) return null;
  if (state === 'unsupported' || state === 'denied') return <Notice tone="spot">{texts[state]}</Notice>;
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-3">
        <Button
          kind={state === 'on' ? 'plain' : 'primary'}
          busy={change.isPending}
          onClick={() => change.mutate(state === 'off')}
        >
          {state === 'on' ? texts.turnOff : texts.turnOn}
        </Button>
        <span className="text-ink-soft" aria-live="polite">
          {texts[state]}
        </span>
      </div>
      {change.error && <Notice tone="danger">{change.error.message}</Notice>}
    </div>
  );
}

function Kinds({ kinds }: { kinds: Reply['kinds'] }) {
  const settings = useCall(web.settings.get, {});
  const save = useSend(web.settings.update, { refresh: [web.settings.get, web.push.get] });
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="eyebrow mb-2">{texts.of}</legend>
      {Object.entries(texts.kinds).map(([kind, label]) => (
        <CheckField
          key={kind}
          label={label}
          checked={kinds[kind] === true}
          disabled={save.isPending || settings.data === undefined}
          onChange={({ target }) =>
            save.mutate({
              body: { notifications: { ...settings.data?.notifications, [`push_${kind}`]: target.checked } },
            })
          }
        />
      ))}
      {save.error && <Notice tone="danger">{save.error.message}</Notice>}
    </fieldset>
  );
}

function Devices({ devices }: { devices: PushSubscriptionRow[] }) {
  const say = useSay();
  const test = useSend(web.push.test, { done: ({ browsers }) => say(texts.sent(browsers)) });
  const remove = useSend(web.push.unsubscribe, { refresh: [web.push.get], done: () => say(texts.removed) });
  const error = test.error ?? remove.error;
  return (
    <div>
      <h3 className="eyebrow mb-1">{texts.devices}</h3>
      <ul className="divide-y divide-line">
        {devices.map(({ id, name, toldAt }) => (
          <li key={id} className="flex flex-wrap items-center justify-between gap-3 py-2">
            <span className="min-w-0">
              <span className="block break-words" dir="auto">
                {name}
              </span>
              <span className="block text-[0.85rem] text-ink-faint">
                {toldAt ? texts.told(ago(toldAt)) : texts.never}
              </span>
            </span>
            <Button small aria-label={texts.removeNamed(name)} onClick={() => remove.mutate({ params: { id } })}>
              {texts.remove}
            </Button>
          </li>
        ))}
      </ul>
      <Button small className="mt-2" busy={test.isPending} onClick={() => test.mutate({})}>
        {texts.test}
      </Button>
      {error && <Notice tone="danger">{error.message}</Notice>}
    </div>
  );
}
