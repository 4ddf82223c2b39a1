import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { Link, useSearch } from '@tanstack/react-router';
import { Suspense, lazy, useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { passkeysWork } from '../../../passkeys.ts';
import { auth } from '../../../texts/public.ts';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/card.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { Lines } from '../../../ui/states.tsx';
import { NarrowPage } from '../../../shell/public-frame.tsx';
import { PasskeySignIn } from '../second-step/passkey-sign-in.tsx';
import { useEnter } from './enter.ts';

// The wallet's code is large and few need it: it comes when asked for.
const WalletSignIn = lazy(() => import('../wallet-auth/sign-in.tsx'));
const texts = auth.login;

export default function Login() {
  const { error, next } = useSearch({ strict: false });
  const [wallet, setWallet] = useState(false);
  const enter = useEnter(next);
  const providers = useCall(web.oauth.listProviders, {}).data;
  return (
    <NarrowPage title={texts.title}>
      {error && <Notice tone="danger">{texts.errors[error] ?? texts.otherError}</Notice>}
      {!error && next && <Notice tone="spot">{texts.signedOut}</Notice>}
      <PasswordForm onDone={enter} />
      <div className="flex items-center gap-3 text-ink-faint" aria-hidden="true">
        <span className="h-px flex-1 bg-line" />
        {auth.or}
        <span className="h-px flex-1 bg-line" />
      </div>
      <div className="flex flex-col gap-2.5">
        {passkeysWork() && <PasskeySignIn onDone={() => enter()} />}
        {providers?.idp1 && <ProviderLink href="/api/auth/idp1">{texts.idp1}</ProviderLink>}
        {providers?.idp2 && <ProviderLink href="/api/auth/idp2">{texts.idp2}</ProviderLink>}
        {wallet ? (
          <Suspense fallback={<Lines rows={3} />}>
            <WalletSignIn onDone={enter} />
          </Suspense>
        ) : (
          <Button icon="wallet" onClick={() => setWallet(true)}>
            {texts.wallet}
          </Button>
        )}
      </div>
      <p className="text-ink-soft">
        {texts.noAccount}{' '}
        <Link to="/signup" className="link">
          {texts.signUp}
        </Link>
      </p>
    </NarrowPage>
  );
}

function PasswordForm({ onDone }: { onDone: (entered: TypesOf<typeof web.session.login>['reply']) => void }) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const send = useSend(web.session.login, { done: onDone });
  return (
    <Form error={send.error} fields={[]} onSubmit={() => send.mutate({ body: { email, password } })}>
      <TextField
        label={auth.email}
        type="email"
        autoComplete="username"
        required
        value={email}
        onChange={({ target }) => setEmail(target.value)}
      />
      <TextField
        label={auth.password}
        type="password"
        autoComplete="current-password"
        required
        value={password}
        onChange={({ target }) => setPassword(target.value)}
      />
      <Refused error={send.error} />
      <Button kind="primary" type="submit" busy={send.isPending}>
        {texts.submit}
      </Button>
      <Link to="/forgot-password" className="link self-start text-[0.9rem]">
        {texts.forgot}
      </Link>
    </Form>
  );
}

function ProviderLink({ href, children }: { href: string; children: string }) {
  return (
    <a
      href={href}
      className="inline-flex min-h-10 items-center justify-center rounded-lg border border-line bg-surface px-4 font-medium hover:border-line-strong"
    >
      {children}
    </a>
  );
}
