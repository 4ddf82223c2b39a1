import type { Network } from '@troupe/chain';
import { AppError, type Clock, type Log, type Settings } from '@troupe/kernel';

/** Wallets that CDP keeps. What talks to CDP is loaded only when it is configured. */
export interface Custody {
  configured: boolean;
  networks: string[];
  status: () => {
    agenticWallet: { status: string; projectId: string | null; features: string[] };
    instructions: string;
  };
  offer: (own: Network) => {
    status: 'configured' | 'not_configured';
    type: 'cdp' | 'local';
    supportedChains: string[];
  };
  createWallet: (userId: string) => Promise<{ address: `0x${string}`; walletId: string }>;
}

const NAMES = ['CDP_PROJECT_ID', 'CDP_API_KEY_ID', 'CDP_API_KEY_SECRET', 'CDP_WALLET_SECRET'] as const;
const NETWORKS = ['base', 'base-sepolia', 'ethereum', 'polygon', 'arbitrum', 'optimism'];
const FEATURES = ['create wallets', 'receive', 'hold stablecoins'];

export function createCustody({ settings, clock, log }: { settings: Settings; clock: Clock; log: Log }): Custody {
  const missing = NAMES.filter((name) => settings[name] === undefined);
  const configured = missing.length === 0;
  return {
    configured,
    networks: NETWORKS,
    status: () => ({
      agenticWallet: { status: 'configured', projectId: settings.CDP_PROJECT_ID ?? null, features: FEATURES },
      instructions: 'POST /api/wallet/create with {"email"} makes a wallet in custody of CDP.',
    }),
    offer: (own) => ({
      status: configured ? 'configured' : 'not_configured',
      type: configured ? 'cdp' : 'local',
      supportedChains: configured ? NETWORKS : [own.name],
    }),
    async createWallet(userId) {
      if (!configured) {
        throw new AppError(500, 'CDP is not configured', { setup: `Set ${missing.join(', ')} and start again.` });
      }
      try {
        const { createCdpAccount } = await import('./cdp.ts');
        return await createCdpAccount({ settings, clock }, userId);
      } catch (error) {
        log.error({ err: error }, 'CDP did not create a wallet');
        const details = error instanceof Error ? error.message : 'unknown';
        throw new AppError(500, 'Wallet creation failed', { details }, { cause: error });
      }
    },
  };
}
