import { web } from '@troupe/contract';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../../api.ts';
import { withChallenge } from '../../../challenge.ts';
import { auth } from '../../../texts/public.ts';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/card.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { NarrowPage } from '../../../shell/public-frame.tsx';

const texts = auth.forgot;

export default function ForgotPassword() {
  const [email, setEmail] = useState('');
  const send = useMutation({
    mutationFn: () => withChallenge((proof) => call(web.password.forgot, { body: { email, ...proof } })),
  });
  return (
    <NarrowPage title={texts.title} lead={texts.lead}>
      {send.data ? (
        <Notice tone="ok">{send.data.message}</Notice>
      ) : (
        <Form error={send.error} fields={['email']} onSubmit={() => send.mutate()}>
          <TextField
            label={auth.email}
            name="email"
            type="email"
            autoComplete="username"
            required
            value={email}
            onChange={({ target }) => setEmail(target.value)}
          />
          <Refused error={send.error} />
          <Button kind="primary" type="submit" busy={send.isPending}>
            {texts.submit}
          </Button>
        </Form>
      )}
      <Link to="/login" className="link self-start">
        {texts.back}
      </Link>
    </NarrowPage>
  );
}
