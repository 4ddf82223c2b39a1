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

type Entered = TypesOf<typeof web.walletAuth.signIn>['reply'];

/** By a wallet in this browser, or by hand for a wallet that lives elsewhere. */
export default function WalletSignIn({ onDone }: { onDone: (entered: Entered) => void }) {
  const [address, setAddress] = useState('');
  const [message, setMessage] = useState('');
  const [signature, setSignature] = useState('');
  const [problem, setProblem] = useState('');
  const send = useSend(web.walletAuth.signIn, { done: onDone });
  const wallets = useWallets();
  const attempt = (work: () => Promise<void>) => {
    setProblem('');
    send.reset();
    void work().catch((error: unknown) => setProblem(problemOf(error)));
  };

  const withProvider = async (provider: WalletProvider) => {
    const signed = await signWith(provider, BASE_CHAIN, prepare);
    if (signed) send.mutate({ body: signed });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send.mutate({ body: { address, message, signature } });
  };
  return (
    <Card title={texts.title} hint={texts.lead}>
      <form onSubmit={submit} className="flex flex-col gap-4">
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
        <TextField
          label={texts.address}
          hint={texts.addressHint}
          mono
          // The button that opened this is gone, and the focus with it.
          autoFocus={wallets.length === 0}
          value={address}
          onChange={({ target }) => {
            setAddress(target.value.trim());
            // It names the address.
            setMessage('');
          }}
        />
        {message ? (
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
            <Button kind="primary" type="submit" busy={send.isPending}>
              {texts.submit}
            </Button>
          </>
        ) : (
          <Button
            disabled={!isAddress(address)}
            onClick={() => attempt(async () => setMessage(await prepare(address as `0x${string}`)))}
          >
            {texts.prepare}
          </Button>
        )}
        {(problem || send.error) && (
          <Notice tone="danger">
            {problem || (statusOf(send.error) === 503 ? texts.unavailable : send.error?.message)}
          </Notice>
        )}
      </form>
    </Card>
  );
}
