import { PASSWORD_LENGTH, web } from '@troupe/contract';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { FormEvent } from 'react';
import { useSend } from '../../../api.ts';
import { auth } from '../../../texts/public.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/card.tsx';
import { TextField } from '../../../ui/field.tsx';
import { NarrowPage } from '../../../shell/public-frame.tsx';

const texts = auth.reset;

export default function ResetPassword() {
  const { token } = useSearch({ strict: false });
  const [password, setPassword] = useState('');
  const send = useSend(web.password.reset);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send.mutate({ body: { token: token ?? '', password } });
  };
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
        <form onSubmit={submit} className="flex flex-col gap-4">
          <TextField
            label={auth.newPassword}
            hint={auth.passwordHint}
            type="password"
            autoComplete="new-password"
            required
            minLength={PASSWORD_LENGTH}
            value={password}
            onChange={({ target }) => setPassword(target.value)}
          />
          {send.error && <Notice tone="danger">{send.error.message}</Notice>}
          <Button kind="primary" type="submit" busy={send.isPending}>
            {texts.submit}
          </Button>
          <Link to="/forgot-password" className="link self-start">
            {texts.again}
          </Link>
        </form>
      )}
    </NarrowPage>
  );
}
