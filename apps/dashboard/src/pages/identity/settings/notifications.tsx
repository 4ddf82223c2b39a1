import { web } from '@troupe/contract';
import { useCall, useSend } from '../../../api.ts';
import { notifications as texts } from '../../../texts/account.ts';
import { Card, Notice } from '../../../ui/card.tsx';
import { CheckField } from '../../../ui/field.tsx';
import { Loaded } from '../../../ui/states.tsx';
import { PushCard } from './push.tsx';

export function Notifications() {
  return (
    <div className="flex flex-col gap-5">
      <PushCard />
      <Mails />
    </div>
  );
}

function Mails() {
  const read = useCall(web.settings.get, {});
  const save = useSend(web.settings.update, { refresh: [web.settings.get] });
  return (
    <Card title={texts.title} hint={texts.hint}>
      <Loaded from={read}>
        {(settings) => {
          const chosen = settings.notifications;
          return (
            <div className="flex flex-col gap-3">
              {Object.entries(texts.kinds).map(([key, label]) => (
                <CheckField
                  key={key}
                  label={label}
                  checked={chosen[key] !== false}
                  disabled={save.isPending}
                  onChange={({ target }) =>
                    save.mutate({ body: { notifications: { ...chosen, [key]: target.checked } } })
                  }
                />
              ))}
              {save.error && <Notice tone="danger">{save.error.message}</Notice>}
            </div>
          );
        }}
      </Loaded>
    </Card>
  );
}
