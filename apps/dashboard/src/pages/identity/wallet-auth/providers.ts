import { useEffect, useState } from 'react';

/** A wallet in this browser, as EIP-1193 describes it. */
export interface WalletProvider {
  request: (input: { method: string; params?: unknown[] }) => Promise<unknown>;
}

export interface FoundWallet {
  id: string;
  /** What the wallet calls itself; undefined: it does not say. */
  name: string | undefined;
  provider: WalletProvider;
}

interface Announcement extends Event {
  detail: { info: { uuid: string; name: string }; provider: WalletProvider };
}

/** All wallets that announce themselves (EIP-6963); a lone older one is only there, at `window.ethereum`. */
export function useWallets(): FoundWallet[] {
  const [announced, setAnnounced] = useState<FoundWallet[]>([]);
  useEffect(() => {
    const meet = (event: Event) => {
      const { info, provider } = (event as Announcement).detail;
      const found = { id: info.uuid, name: info.name, provider };
      setAnnounced((known) => [...known.filter(({ id }) => id !== found.id), found]);
    };
    addEventListener('eip6963:announceProvider', meet);
    dispatchEvent(new Event('eip6963:requestProvider'));
    return () => removeEventListener('eip6963:announceProvider', meet);
  }, []);
  const { ethereum } = globalThis as { ethereum?: WalletProvider };
  if (announced.length > 0 || !ethereum) return announced;
  return [{ id: 'ethereum', name: undefined, provider: ethereum }];
}

/** Wallets reject with plain objects as often as with errors. */
export function problemOf(error: unknown): string {
  const { message } = (error ?? {}) as { message?: unknown };
  return typeof message === 'string' ? message : String(error);
}

const toHex = (text: string) =>
  `0x${Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;

/** A contract's signature counts on its own chain only, so the wallet has to be on it. */
export async function signWith(
  wallet: WalletProvider,
  chainId: number,
  messageFor: (address: `0x${string}`) => Promise<string>,
): Promise<{ address: string; message: string; signature: string } | null> {
  const [address] = (await wallet.request({ method: 'eth_requestAccounts' })) as `0x${string}`[];
  if (!address) return null;
  if (Number(await wallet.request({ method: 'eth_chainId' })) !== chainId)
    await wallet.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: `0x${chainId.toString(16)}` }] });
  const message = await messageFor(address);
  const signature = (await wallet.request({ method: 'personal_sign', params: [toHex(message), address] })) as string;
  return { address, message, signature };
}
