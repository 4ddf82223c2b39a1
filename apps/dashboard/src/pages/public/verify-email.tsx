import { resendVerification, verifyEmail } from '@troupe/contract';
import { useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { FormEvent } from 'react';
import { useSend } from '../../api.ts';
import { auth } from '../../texts/public.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Notice } from '../../ui/card.tsx';
import { TextField } from '../../ui/field.tsx';
import { NarrowPage } from './frame.tsx';

const texts = auth.verify;

export default function VerifyEmail() {
  const { token } = useSearch({ strict: false });
  const { mutate, data, error } = useSend(verifyEmail);
  const sent = useRef(false);
  useEffect(() => {
    // The token works once: a second effect must not spend it again.
    if (!token || sent.current) return;
    sent.current = true;
    mutate({ body: { token } });
  }, [token, mutate]);
  return (
    <NarrowPage title={texts.title}>
      {data ? (
        <>
          <Notice tone="ok">{texts.done}</Notice>
          <LinkButton kind="primary" to="/dashboard">
            {texts.goOn}
          </LinkButton>
        </>
      ) : (
        <>
          {token && !error && <p role="status">{texts.working}</p>}
          {error && <Notice tone="danger">{error.message}</Notice>}
          {!token && <Notice tone="spot">{texts.missing}</Notice>}
          {(error || !token) && <Resend />}
        </>
      )}
    </NarrowPage>
  );
}

function Resend() {
  const [email, setEmail] = useState('');
  const send = useSend(resendVerification);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send.mutate({ body: { email } });
  };
  if (send.data) return <Notice tone="ok">{send.data.message}</Notice>;
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <TextField
        label={auth.email}
        type="email"
        required
        value={email}
        onChange={({ target }) => setEmail(target.value)}
      />
      {send.error && <Notice tone="danger">{send.error.message}</Notice>}
      <Button type="submit" busy={send.isPending}>
        {texts.resend}
      </Button>
    </form>
  );
}
