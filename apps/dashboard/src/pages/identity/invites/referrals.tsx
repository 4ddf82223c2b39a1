import { web } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { count } from '../../../format.ts';
import { referrals as texts } from '../../../texts/account.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Code } from '../../../ui/code.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { Loaded } from '../../../ui/states.tsx';

export function Referrals() {
  const read = useCall(web.settings.getCredits, {});
  return (
    <div className="grid items-start gap-5 lg:grid-cols-2">
      <Card title={texts.credits} hint={texts.creditsHint}>
        <Loaded from={read}>
          {({ credits, referralCode, referralCount }) => (
            <div className="flex flex-col gap-4">
              <p className="num font-display text-[2.2rem] leading-none font-semibold">{count(credits)}</p>
              <p className="text-ink-soft">
                {texts.codeHint} {texts.people(referralCount)}.
              </p>
              <Code label={texts.code} text={referralCode} />
              <Code label={texts.link} text={`${location.origin}/signup?ref=${referralCode}`} />
            </div>
          )}
        </Loaded>
      </Card>
      <InviteCard />
    </div>
  );
}

function InviteCard() {
  const [name, setName] = useState('');
  const send = useSend(web.invites.create, { done: () => setName('') });
  return (
    <Card title={texts.invite} hint={texts.inviteHint}>
      <Form error={send.error} fields={['name']} onSubmit={() => send.mutate({ body: { name } })}>
        <TextField
          label={texts.inviteName}
          name="name"
          required
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        <Refused error={send.error} />
        <div>
          <Button type="submit" busy={send.isPending}>
            {texts.makeInvite}
          </Button>
        </div>
        {send.data && <Code label={texts.inviteLink} text={send.data.inviteUrl} />}
      </Form>
    </Card>
  );
}
