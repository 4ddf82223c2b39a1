import { web, PASSWORD_LENGTH, REFERRAL_LENGTH } from '@troupe/contract';
import { useMutation } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { FormEvent } from 'react';
import { call } from '../../../api.ts';
import { withChallenge } from '../../../challenge.ts';
import { auth } from '../../../texts/public.ts';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/card.tsx';
import { TextField } from '../../../ui/field.tsx';
import { NarrowPage } from '../../../shell/public-frame.tsx';
import { useEnter } from '../session/enter.ts';

const texts = auth.signup;
type Form = Record<'name' | 'email' | 'password' | 'referralCode' | 'website', string>;

/** Registering makes no session, so the same words sign in at once. */
async function signUp({ email, password, ...rest }: Form, inviteToken: string | undefined): Promise<void> {
  const optional = Object.fromEntries(Object.entries({ ...rest, inviteToken }).filter(([, value]) => value));
  await withChallenge((proof) => call(web.register.create, { body: { email, password, ...optional, ...proof } }));
  await call(web.session.login, { body: { email, password } });
}

export default function SignUp() {
  const { invite, ref, next } = useSearch({ strict: false });
  const [form, setForm] = useState<Form>({ name: '', email: '', password: '', referralCode: ref ?? '', website: '' });
  const enter = useEnter(next);
  const send = useMutation({ mutationFn: () => signUp(form, invite), onSuccess: () => enter() });
  const set =
    (key: keyof Form) =>
    ({ target }: { target: { value: string } }) =>
      setForm((old) => ({ ...old, [key]: target.value }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send.mutate();
  };
  return (
    <NarrowPage title={texts.title} lead={texts.lead}>
      {invite && <Notice tone="accent">{texts.invited}</Notice>}
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextField
          label={auth.name}
          hint={texts.nameHint}
          autoComplete="name"
          value={form.name}
          onChange={set('name')}
        />
        <TextField
          label={auth.email}
          type="email"
          autoComplete="username"
          required
          value={form.email}
          onChange={set('email')}
        />
        <TextField
          label={auth.password}
          hint={auth.passwordHint}
          type="password"
          autoComplete="new-password"
          required
          minLength={PASSWORD_LENGTH}
          value={form.password}
          onChange={set('password')}
        />
        <Referral given={ref} value={form.referralCode} onChange={set('referralCode')} />
        {/* A trap for robots: people never see it. */}
        <div className="hidden" aria-hidden="true">
          <input name="website" tabIndex={-1} autoComplete="off" value={form.website} onChange={set('website')} />
        </div>
        {send.error && <Notice tone="danger">{send.error.message}</Notice>}
        <Button kind="primary" type="submit" busy={send.isPending || send.isSuccess}>
          {texts.submit}
        </Button>
      </form>
      <SignInInstead />
    </NarrowPage>
  );
}

function SignInInstead() {
  return (
    <p className="text-ink-soft">
      {texts.have}{' '}
      <Link to="/login" className="link">
        {texts.signIn}
      </Link>
    </p>
  );
}

function Referral({
  given,
  value,
  onChange,
}: {
  given: string | undefined;
  value: string;
  onChange: (event: { target: { value: string } }) => void;
}) {
  return (
    <details open={given !== undefined}>
      <summary className="cursor-pointer text-[0.9rem] text-ink-soft">{texts.haveReferral}</summary>
      <div className="pt-3">
        <TextField
          label={texts.referral}
          hint={texts.referralHint}
          maxLength={REFERRAL_LENGTH}
          autoComplete="off"
          value={value}
          onChange={onChange}
        />
      </div>
    </details>
  );
}
