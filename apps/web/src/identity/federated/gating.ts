import {
  ChainUnavailable,
  createTokenFacts,
  holdsToken,
  l2Network,
  type Address,
  type ChainClient,
} from '@troupe/chain';
import { AppError, type Settings } from '@troupe/kernel';

export interface GateAnswer {
  hasAccess: boolean;
  /** Whether there is a gate at all. */
  tokenGated: boolean;
  minBalance: string;
  /** The token's name. */
  token: string | null;
  chain: string;
  contractAddress: string | null;
}

export type Gating = (address: string) => Promise<GateAnswer>;

interface GatingDeps {
  settings: Pick<Settings, 'GATING_TOKEN_ADDRESS' | 'GATING_MIN_BALANCE'>;
  /** Undefined: no L2 network is configured. */
  chain: ChainClient | undefined;
}

const unavailable = (cause?: unknown) => new AppError(503, 'Verification unavailable', {}, { cause });

/** Does a wallet hold enough of the gating token? Without such a token everybody may pass. */
export function createGating({ settings, chain }: GatingDeps): Gating {
  const { GATING_TOKEN_ADDRESS: contract, GATING_MIN_BALANCE: minBalance } = settings;
  const facts = chain && createTokenFacts(chain);

  return async (address) => {
    const known = { minBalance: String(minBalance), chain: l2Network.name };
    if (contract === undefined)
      return { ...known, hasAccess: true, tokenGated: false, token: null, contractAddress: null };
    if (!chain || !facts) throw unavailable();
    const token = contract as Address;
    try {
      const [hasAccess, { name }] = await Promise.all([
        holdsToken(chain, { token, minBalance, address: address as Address }),
        facts({ address: token, symbol: token }),
      ]);
      return { ...known, hasAccess, tokenGated: true, token: name, contractAddress: token };
    } catch (error) {
      if (error instanceof ChainUnavailable) throw unavailable(error);
      throw error;
    }
  };
}
