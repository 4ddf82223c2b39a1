import { web } from '@troupe/contract';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useSend } from '../../../api.ts';
import { sessionQuery } from '../../../session.ts';
import { auth } from '../../../texts/public.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/card.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { NarrowPage } from '../../../shell/public-frame.tsx';
import { NewPassword } from '../new-password.tsx';

const texts = auth.verify;

export default function VerifyEmail() {
  const { token } = useSearch({ strict: false });
  const session = useQuery(sessionQuery);
  const isSignedIn = session.data?.user != null;
  const { mutate, data, error, isPending } = useSend(web.register.verifyEmail);
  const sent = useRef(false);
  useEffect(() => {
    // The token works once: a second effect must not spend it again.
    if (!token || !isSignedIn || sent.current) return;
    sent.current = true;
    mutate({ body: { token } });
  }, [token, isSignedIn, mutate]);
  if (data)
    return (
      <NarrowPage title={texts.title}>
        <Notice tone="ok">{texts.done}</Notice>
        <LinkButton kind="primary" to={isSignedIn ? '/dashboard' : '/login'}>
          {isSignedIn ? texts.goOn : auth.login.submit}
        </LinkButton>
      </NarrowPage>
    );
  const asksPassword = token && !isSignedIn && !session.isPending;
  return (
    <NarrowPage title={texts.title} lead={asksPassword ? texts.lead : undefined}>
      {token && !asksPassword && !error && <p role="status">{texts.working}</p>}
      {error && !asksPassword && <Notice tone="danger">{error.message}</Notice>}
      {!token && <Notice tone="spot">{texts.missing}</Notice>}
      {asksPassword && (
        <OwnPassword busy={isPending} error={error} choose={(password) => mutate({ body: { token, password } })} />
      )}
      {(error || !token) && <Resend />}
    </NarrowPage>
  );
}

/** Whoever opens the link where nobody is signed in may not be the one who signed up. */
function OwnPassword({
  busy,
  error,
  choose,
}: {
  busy: boolean;
  error: Error | null;
  choose: (password: string) => void;
}) {
  const [password, setPassword] = useState('');
  return (
    <Form error={error} fields={['password']} onSubmit={() => choose(password)}>
      <NewPassword label={auth.password} value={password} onChange={setPassword} />
      <Refused error={error} />
      <Button kind="primary" type="submit" busy={busy}>
        {texts.submit}
      </Button>
    </Form>
  );
}

function Resend() {
  const [email, setEmail] = useState('');
  const send = useSend(web.register.resendVerification);
  if (send.data) return <Notice tone="ok">{send.data.message}</Notice>;
  return (
    <Form error={send.error} fields={['email']} onSubmit={() => send.mutate({ body: { email } })}>
      <TextField
        label={auth.email}
        name="email"
        type="email"
        required
        value={email}
        onChange={({ target }) => setEmail(target.value)}
      />
      <Refused error={send.error} />
      <Button type="submit" busy={send.isPending}>
        {texts.resend}
      </Button>
    </Form>
  );
}
