import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { count } from '../../../format.ts';
import { states } from '../../../texts/common.ts';
import { profile as texts } from '../../../texts/account.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Facts } from '../../../ui/card.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { Loaded } from '../../../ui/states.tsx';
import { useSay } from '../../../ui/toast.tsx';

export function Profile() {
  const read = useCall(web.settings.get, {});
  return <Loaded from={read}>{(settings) => <ProfileForm settings={settings} />}</Loaded>;
}

function ProfileForm({ settings }: { settings: TypesOf<typeof web.settings.get>['reply'] }) {
  const [name, setName] = useState(settings.name);
  const [email, setEmail] = useState(settings.email);
  const say = useSay();
  const save = useSend(web.settings.update, {
    refresh: [web.settings.get, web.session.get],
    done: () => say(texts.saved),
  });
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <Card title={texts.title}>
        <Form
          className="flex max-w-lg flex-col gap-4"
          error={save.error}
          fields={['name', 'email']}
          onSubmit={() => save.mutate({ body: { name, ...(email !== settings.email && { email }) } })}
        >
          <TextField
            label={texts.name}
            name="name"
            autoComplete="name"
            required
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
          <TextField
            label={texts.email}
            name="email"
            hint={texts.emailHint}
            type="email"
            autoComplete="email"
            required
            value={email}
            onChange={({ target }) => setEmail(target.value)}
          />
          <Refused error={save.error} />
          <div>
            <Button kind="primary" type="submit" busy={save.isPending}>
              {states.save}
            </Button>
          </div>
        </Form>
      </Card>
      <Card>
        <Facts
          items={[
            [texts.plan, settings.plan ? <span className="capitalize">{settings.plan}</span> : texts.noPlan],
            [texts.credits, <span className="num">{count(settings.credits)}</span>],
          ]}
        />
      </Card>
    </div>
  );
}
