import { getNonce, walletSignIn } from '@troupe/contract';
import { useState } from 'react';
import type { FormEvent } from 'react';
import { createSiweMessage } from 'viem/siwe';
import { call, useSend } from '../../api.ts';
import { auth } from '../../texts/public.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Notice } from '../../ui/card.tsx';
import { Code } from '../../ui/code.tsx';
import { TextField } from '../../ui/field.tsx';

interface Provider {
  request: (input: { method: string; params?: unknown[] }) => Promise<unknown>;
}

const texts = auth.wallet;
const BASE_CHAIN = 8453;
const isAddress = (value: string): value is `0x${string}` => /^0x[0-9a-fA-F]{40}$/.test(value);
const injected = () => (globalThis as { ethereum?: Provider }).ethereum;
const toHex = (text: string) =>
  `0x${Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;

async function prepare(address: `0x${string}`): Promise<string> {
  const { nonce } = await call(getNonce, {});
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

/** By the wallet of this browser, or by hand for a wallet that lives elsewhere. */
export default function WalletSignIn({ onDone }: { onDone: () => void }) {
  const [address, setAddress] = useState('');
  const [message, setMessage] = useState('');
  const [signature, setSignature] = useState('');
  const [problem, setProblem] = useState('');
  const send = useSend(walletSignIn, { done: onDone });
  const provider = injected();
  const attempt = (work: () => Promise<void>) =>
    void work().catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)));

  const withProvider = async (wallet: Provider) => {
    setProblem('');
    const [first] = (await wallet.request({ method: 'eth_requestAccounts' })) as `0x${string}`[];
    if (!first) return;
    const text = await prepare(first);
    const signed = (await wallet.request({ method: 'personal_sign', params: [toHex(text), first] })) as string;
    send.mutate({ body: { address: first, message: text, signature: signed } });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send.mutate({ body: { address, message, signature } });
  };
  return (
    <Card title={texts.title} hint={texts.lead}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        {provider ? (
          <Button kind="primary" busy={send.isPending} onClick={() => attempt(() => withProvider(provider))}>
            {texts.connect}
          </Button>
        ) : (
          <p className="text-ink-soft">{texts.none}</p>
        )}
        <TextField
          label={texts.address}
          mono
          value={address}
          onChange={({ target }) => setAddress(target.value.trim())}
        />
        {message ? (
          <>
            <Code label={texts.message} text={message} />
            <TextField
              label={texts.signature}
              hint={texts.signatureHint}
              mono
              required
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
        {(problem || send.error) && <Notice tone="danger">{problem || send.error?.message}</Notice>}
      </form>
    </Card>
  );
}
