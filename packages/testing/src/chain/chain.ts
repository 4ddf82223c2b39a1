import { createHardhatRuntimeEnvironment } from 'hardhat/hre';
import {
  createTestClient,
  createWalletClient,
  encodeFunctionData,
  getAddress,
  hashMessage,
  hashTypedData,
  hexToBigInt,
  http,
  numberToHex,
  pad,
  parseAbi,
  parseEther,
  publicActions,
  serializeErc6492Signature,
  stringToHex,
  type Address,
  type Hex,
  type TypedDataDefinition,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts';
import compiled from './contracts/compiled.json' with { type: 'json' };

/** Chains in the test's own process: a real EVM behind a real JSON-RPC address on loopback. */

/** The code of the contracts, as a chain keeps it. */
export const CONTRACTS = compiled.runtime;

const FACTORY: Address = '0xfac70000000000000000000000000000000000ff';

const TOKEN_ABI = parseAbi([
  'function init(string name, string symbol, uint8 decimals, string version)',
  'function mint(address to, uint256 value)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function balanceOf(address owner) view returns (uint256)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
]);
const FACTORY_ABI = parseAbi([
  'function create(address owner, uint256 salt) returns (address)',
  'function predict(address owner, uint256 salt) view returns (address)',
]);

/** A smart-contract wallet: signs with its owner's key; until `deploy` in the form of ERC-6492. */
export interface TestWallet {
  address: Address;
  owner: PrivateKeyAccount;
  deploy: () => Promise<void>;
  signMessage: (message: string) => Promise<Hex>;
  signTypedData: (data: TypedDataDefinition) => Promise<Hex>;
}

interface TokenOptions {
  symbol: string;
  name?: string;
  decimals?: number;
  version?: string;
}

export interface TestChain {
  rpcUrl: string;
  chainId: number;
  client: ReturnType<typeof testClient>;
  /** Puts the test token at an address, real ones included. */
  token: (address: Address, options: TokenOptions) => Promise<Address>;
  /** Puts a token with TIP-20's functions, and no other, at an address. */
  tip20: (address: Address, symbol: string) => Promise<Address>;
  mint: (token: Address, to: Address, value: bigint) => Promise<void>;
  balance: (token: Address, owner: Address) => Promise<bigint>;
  /** A new key with native money for fees. */
  account: () => Promise<PrivateKeyAccount>;
  smartWallet: (options: { deployed: boolean }) => Promise<TestWallet>;
  /** The funded account that the chain itself signs for. */
  send: (to: Address, data: Hex) => Promise<Hex>;
  close: () => Promise<void>;
}

function testClient(rpcUrl: string, chainId: number) {
  const chain = {
    id: chainId,
    name: `Test ${chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  };
  return createTestClient({ chain, mode: 'hardhat', transport: http(rpcUrl), pollingInterval: 20 }).extend(
    publicActions,
  );
}

export async function startTestChain({ chainId }: { chainId: number }): Promise<TestChain> {
  const environment = await createHardhatRuntimeEnvironment({
    // Its clock must not run ahead of the real one, however many blocks there are.
    networks: { test: { type: 'edr-simulated', chainId, chainType: 'l1', allowBlocksWithSameTimestamp: true } },
  });
  const server = await environment.network.createServer('test', '127.0.0.1', 0);
  const { port } = await server.listen();
  const rpcUrl = `http://127.0.0.1:${port}`;
  const client = testClient(rpcUrl, chainId);
  await client.setCode({ address: FACTORY, bytecode: CONTRACTS.WalletFactory as Hex });
  const [from] = (await client.request({ method: 'eth_accounts' as never })) as Address[];
  const sender = createWalletClient({ account: from, chain: client.chain, transport: http(rpcUrl) });

  const send = async (to: Address, data: Hex): Promise<Hex> => {
    const hash = await sender.sendTransaction({ to, data } as never);
    await client.waitForTransactionReceipt({ hash, pollingInterval: 10 });
    return hash;
  };

  return {
    rpcUrl,
    chainId,
    client,
    send,
    async token(address, { symbol, name = symbol, decimals = 6, version = '1' }) {
      await client.setCode({ address, bytecode: CONTRACTS.TestToken as Hex });
      const args = [name, symbol, decimals, version] as const;
      await send(address, encodeFunctionData({ abi: TOKEN_ABI, functionName: 'init', args }));
      return address;
    },
    async tip20(address, symbol) {
      await client.setCode({ address, bytecode: CONTRACTS.Tip20 as Hex });
      // Solidity keeps a short string in its slot, with twice its length in the last byte.
      const text = pad(stringToHex(symbol), { dir: 'right', size: 32 });
      const value = numberToHex(hexToBigInt(text) + BigInt(symbol.length * 2), { size: 32 });
      for (const slot of [0, 1]) await client.setStorageAt({ address, index: numberToHex(slot, { size: 32 }), value });
      return address;
    },
    async mint(token, to, value) {
      await send(token, encodeFunctionData({ abi: TOKEN_ABI, functionName: 'mint', args: [to, value] }));
    },
    balance: (token, owner) =>
      client.readContract({ abi: TOKEN_ABI, address: token, functionName: 'balanceOf', args: [owner] }),
    async account() {
      const account = privateKeyToAccount(generatePrivateKey());
      await client.setBalance({ address: account.address, value: parseEther('10') });
      return account;
    },
    smartWallet: ({ deployed }) => smartWallet(client, send, deployed),
    async close() {
      await server.close();
      // hardhat's own caches and its EVM live until the process ends
    },
  };
}

async function smartWallet(
  client: ReturnType<typeof testClient>,
  send: TestChain['send'],
  deployed: boolean,
): Promise<TestWallet> {
  const owner = privateKeyToAccount(generatePrivateKey());
  const args = [owner.address, 1n] as const;
  const factoryData = encodeFunctionData({ abi: FACTORY_ABI, functionName: 'create', args });
  const address = await client.readContract({ abi: FACTORY_ABI, address: FACTORY, functionName: 'predict', args });
  const sign = async (hash: Hex): Promise<Hex> => {
    const signature = await owner.sign({ hash });
    const code = await client.getCode({ address });
    return code === undefined
      ? serializeErc6492Signature({ address: FACTORY, data: factoryData, signature })
      : signature;
  };
  const wallet: TestWallet = {
    address: getAddress(address),
    owner,
    deploy: async () => void (await send(FACTORY, factoryData)),
    signMessage: (message) => sign(hashMessage(message)),
    signTypedData: (data) => sign(hashTypedData(data)),
  };
  if (deployed) await wallet.deploy();
  return wallet;
}
