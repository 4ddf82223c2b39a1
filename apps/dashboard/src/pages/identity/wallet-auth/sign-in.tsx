import type { TypesOf } from '@troupe/contract';
import { EVM_ADDRESS, web } from '@troupe/contract';
import { useState } from 'react';
import type { FormEvent } from 'react';
import { createSiweMessage } from 'viem/siwe';
import { call, statusOf, useSend } from '../../../api.ts';
import { auth } from '../../../texts/public.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Notice } from '../../../ui/card.tsx';
import { Code } from '../../../ui/code.tsx';
import { TextField } from '../../../ui/field.tsx';
import { problemOf, signWith, useWallets } from './providers.ts';
import type { WalletProvider } from './providers.ts';

const texts = auth.wallet;
type Entered = TypesOf<typeof web.walletAuth.signIn>['reply'];
const BASE_CHAIN = 8453;
const isAddress = (value: string): value is `0x${string}` => EVM_ADDRESS.test(value);

async function prepare(address: `0x${string}`): Promise<string> {
  const { nonce } = await call(web.walletAuth.getNonce, {});
  return createSiweMessage({
    address,
    chainId: BASE_CHAIN,
    domain: location.host,
    nonce,
    uri: location.origin,
    version: '1',
    statement: texts.statement,
    issuedAt: new Date(),
    expirationTime: new Date(Date.now() + 10 * 60_000),
  });
}

/** Signing in with what a wallet signed; `problem` is what a person is told. */
function useWalletSignIn(onDone: (entered: Entered) => void) {
  const [failed, setFailed] = useState('');
  const send = useSend(web.walletAuth.signIn, { done: onDone });
  const attempt = (work: () => Promise<void>) => {
    setFailed('');
    send.reset();
    void work().catch((error: unknown) => setFailed(problemOf(error)));
  };
  const told = statusOf(send.error) === 503 ? texts.unavailable : send.error?.message;
  return { send, attempt, problem: failed || told };
}

/** By a wallet in this browser, or by hand for a wallet that lives elsewhere. */
export default function WalletSignIn({ onDone }: { onDone: (entered: Entered) => void }) {
  const { send, attempt, problem } = useWalletSignIn(onDone);
  const wallets = useWallets();
  const withProvider = async (provider: WalletProvider) => {
    const signed = await signWith(provider, BASE_CHAIN, prepare);
    if (signed) send.mutate({ body: signed });
  };
  return (
    <Card title={texts.title} hint={texts.lead}>
      <div className="flex flex-col gap-4">
        {wallets.map(({ id, name, provider }, index) => (
          <Button
            key={id}
            kind="primary"
            autoFocus={index === 0}
            busy={send.isPending}
            onClick={() => attempt(() => withProvider(provider))}
          >
            {texts.connect(name)}
          </Button>
        ))}
        <p className="text-ink-soft">{wallets.length === 0 ? texts.none : texts.byHand}</p>
        <ByHand
          // The button that opened this is gone, and the focus with it.
          takesFocus={wallets.length === 0}
          busy={send.isPending}
          attempt={attempt}
          onSigned={(signed) => send.mutate({ body: signed })}
        />
        {problem && <Notice tone="danger">{problem}</Notice>}
      </div>
    </Card>
  );
}

interface ByHandProps {
  takesFocus: boolean;
  busy: boolean;
  attempt: (work: () => Promise<void>) => void;
  onSigned: (signed: { address: string; message: string; signature: string }) => void;
}

/** An address gives a message, and the message's signature signs in. */
function ByHand({ takesFocus, busy, attempt, onSigned }: ByHandProps) {
  const [address, setAddress] = useState('');
  const [message, setMessage] = useState('');
  const [signature, setSignature] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (message) onSigned({ address, message, signature });
    else if (isAddress(address)) attempt(async () => setMessage(await prepare(address)));
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <TextField
        label={texts.address}
        hint={texts.addressHint}
        mono
        autoFocus={takesFocus}
        value={address}
        onChange={({ target }) => {
          setAddress(target.value.trim());
          // It names the address.
          setMessage('');
        }}
      />
      {message && (
        <>
          <Code label={texts.message} text={message} />
          <TextField
            label={texts.signature}
            hint={texts.signatureHint}
            mono
            required
            autoFocus
            value={signature}
            onChange={({ target }) => setSignature(target.value.trim())}
          />
        </>
      )}
      <Button type="submit" kind={message ? 'primary' : 'plain'} busy={busy} disabled={!isAddress(address)}>
        {message ? texts.submit : texts.prepare}
      </Button>
    </form>
  );
}
