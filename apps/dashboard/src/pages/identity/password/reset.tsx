import { web } from '@troupe/contract';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useSend } from '../../../api.ts';
import { auth } from '../../../texts/public.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/card.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { NarrowPage } from '../../../shell/public-frame.tsx';
import { NewPassword } from '../new-password.tsx';

const texts = auth.reset;

export default function ResetPassword() {
  const { token } = useSearch({ strict: false });
  const [password, setPassword] = useState('');
  const send = useSend(web.password.reset);
  if (!token) {
    return (
      <NarrowPage title={texts.title}>
        <Notice tone="danger">{texts.missing}</Notice>
        <LinkButton to="/forgot-password">{texts.again}</LinkButton>
      </NarrowPage>
    );
  }
  return (
    <NarrowPage title={texts.title} lead={texts.lead}>
      {send.isSuccess ? (
        <>
          <Notice tone="ok">{texts.done}</Notice>
          <LinkButton kind="primary" to="/login">
            {auth.login.submit}
          </LinkButton>
        </>
      ) : (
        <Form error={send.error} fields={['password']} onSubmit={() => send.mutate({ body: { token, password } })}>
          <NewPassword label={auth.newPassword} value={password} onChange={setPassword} />
          <Refused error={send.error} />
          <Button kind="primary" type="submit" busy={send.isPending}>
            {texts.submit}
          </Button>
          <Link to="/forgot-password" className="link self-start">
            {texts.again}
          </Link>
        </Form>
      )}
    </NarrowPage>
  );
}
