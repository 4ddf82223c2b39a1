import { web } from '@troupe/contract';
import { useMutation } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { call, useCall } from '../../../api.ts';
import { withChallenge } from '../../../challenge.ts';
import { notJoining } from '../../../texts/joining.ts';
import { auth } from '../../../texts/public.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/card.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { NarrowPage } from '../../../shell/public-frame.tsx';
import { useEnter } from '../session/enter.ts';
import { NewPassword } from '../new-password.tsx';

const texts = auth.signup;
type Form = Record<'name' | 'email' | 'password' | 'referralCode' | 'website', string>;

/** Registering makes no session, so the same words sign in at once. */
async function signUp({ email, password, ...rest }: Form, inviteToken: string | undefined): Promise<void> {
  const optional = Object.fromEntries(Object.entries({ ...rest, inviteToken }).filter(([, value]) => value));
  await withChallenge((proof) => call(web.register.create, { body: { email, password, ...optional, ...proof } }));
  await call(web.session.login, { body: { email, password } });
}

export default function SignUp() {
  const { invite } = useSearch({ strict: false });
  const { data, isPending } = useCall(web.joining.getMode, {}, { retry: false });
  // Whoever may come is let in by the server: where it does not say, the form is there.
  const mode = data?.mode ?? 'open';
  if (isPending && !invite)
    return (
      <NarrowPage title={texts.title} lead={texts.lead}>
        <SignInInstead />
      </NarrowPage>
    );
  if (mode === 'open' || (mode === 'invite' && invite)) return <NewAccount />;
  return (
    <NarrowPage title={texts.title}>
      <Notice tone="accent">{notJoining[mode]}</Notice>
      {mode === 'invite' && (
        <LinkButton kind="primary" to="/invite">
          {notJoining.haveCode}
        </LinkButton>
      )}
      <SignInInstead />
    </NarrowPage>
  );
}

function NewAccount() {
  const { invite, ref, next } = useSearch({ strict: false });
  const [form, setForm] = useState<Form>({ name: '', email: '', password: '', referralCode: ref ?? '', website: '' });
  const enter = useEnter(next);
  const send = useMutation({ mutationFn: () => signUp(form, invite), onSuccess: () => enter() });
  const set =
    (key: keyof Form) =>
    ({ target }: { target: { value: string } }) =>
      setForm((old) => ({ ...old, [key]: target.value }));
  return (
    <NarrowPage title={texts.title} lead={texts.lead}>
      {invite && <Notice tone="accent">{texts.invited}</Notice>}
      <Form error={send.error} fields={['name', 'email', 'password', 'referralCode']} onSubmit={() => send.mutate()}>
        <TextField
          label={auth.name}
          name="name"
          hint={texts.nameHint}
          autoComplete="name"
          value={form.name}
          onChange={set('name')}
        />
        <TextField
          label={auth.email}
          name="email"
          type="email"
          autoComplete="username"
          required
          value={form.email}
          onChange={set('email')}
        />
        <NewPassword
          label={auth.password}
          value={form.password}
          onChange={(password) => setForm((old) => ({ ...old, password }))}
        />
        <Referral given={ref} value={form.referralCode} onChange={set('referralCode')} />
        {/* A trap for robots: people never see it. */}
        <div className="hidden" aria-hidden="true">
          <input name="website" tabIndex={-1} autoComplete="off" value={form.website} onChange={set('website')} />
        </div>
        <Refused error={send.error} />
        <Button kind="primary" type="submit" busy={send.isPending || send.isSuccess}>
          {texts.submit}
        </Button>
      </Form>
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
          name="referralCode"
          autoComplete="off"
          value={value}
          onChange={onChange}
        />
      </div>
    </details>
  );
}
