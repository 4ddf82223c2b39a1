import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { hexToString, type Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { startTestChain } from '@troupe/testing/chain/chain';
import { needs } from '@troupe/testing/machine/needs';
import { assertAccessible, assertQuiet, openPage } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { browserSuite } from './suite.ts';

const BASE_CHAIN = 8453;

/** A wallet in the browser; whoever holds its keys answers from the test. */
interface Wallet {
  name: string;
  address: string;
  signMessage: (message: string) => Promise<Hex>;
  /** Announces itself (EIP-6963), or is only there, as older ones are. */
  announced: boolean;
  chainId?: number;
}

interface Asked {
  method: string;
  params?: unknown[];
}

const INJECT = `(wallets) => {
  for (const { index, name, announced } of wallets) {
    const provider = {
      index,
      async request(asked) {
        const { result, error } = await globalThis.askWallet(this.index, asked);
        // What wallets reject with need not be an Error.
        if (error) throw error;
        return result;
      },
    };
    if (!announced) {
      globalThis.ethereum = provider;
      continue;
    }
    const info = { uuid: String(index), name, icon: 'data:,', rdns: 'org.example.' + index };
    const announce = () =>
      dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }));
    addEventListener('eip6963:requestProvider', announce);
    announce();
  }
}`;

/** Gives the browser these wallets; tells all that is asked of them. */
async function inject({ context }: WatchedPage, wallets: Wallet[]): Promise<Asked[]> {
  const log: Asked[] = [];
  const chainIds = wallets.map(({ chainId = BASE_CHAIN }) => chainId);
  const answer = async (index: number, { method, params = [] }: Asked): Promise<unknown> => {
    const wallet = wallets[index]!;
    if (method === 'eth_requestAccounts') return [wallet.address.toLowerCase()];
    if (method === 'eth_chainId') return `0x${chainIds[index]!.toString(16)}`;
    if (method === 'wallet_switchEthereumChain') {
      chainIds[index] = Number((params[0] as { chainId: string }).chainId);
      return null;
    }
    assert.deepEqual([method, chainIds[index]], ['personal_sign', BASE_CHAIN]);
    return wallet.signMessage(hexToString(params[0] as Hex));
  };
  await context.exposeFunction('askWallet', async (index: number, asked: Asked) => {
    log.push(asked);
    return answer(index, asked).then(
      (result) => ({ result }),
      (error: Error) => ({ error: { code: 4001, message: error.message } }),
    );
  });
  const described = wallets.map(({ name, announced }, index) => ({ index, name, announced }));
  await context.addInitScript(`(${INJECT})(${JSON.stringify(described)})`);
  return log;
}

const chain = needs('chromium') ? null : await startTestChain({ chainId: BASE_CHAIN });
after(() => chain?.close());

browserSuite(
  'sign-in with a smart wallet, in the browser',
  (stage) => {
    const wallet = async (deployed: boolean) => {
      const { address, signMessage, deploy } = await chain!.smartWallet({ deployed });
      return { name: 'Test Wallet', address, signMessage, deploy, announced: true };
    };
    const shortName = (address: string) =>
      `Wallet:${address.slice(0, 6)}...${address.slice(-4)}`.replace(/0x.*/, (text) => text.toLowerCase());

    async function open(wallets: Wallet[]) {
      const watched = await openPage(stage.browser, stage.platform.url);
      const asked = await inject(watched, wallets);
      const { page } = watched;
      await page.goto('/login');
      await page.getByRole('button', { name: 'Continue with a smart wallet' }).click();
      const press = (name: string) => page.getByRole('button', { name: `Sign with ${name}` }).click();
      const whoAmI = async () =>
        (await page.evaluate("fetch('/api/auth/session').then((answer) => answer.json())")) as {
          user: { id: string; name: string } | null;
        };
      const arrived = async () => {
        await page.waitForURL('**/dashboard');
        await page.locator('#content').waitFor();
        return (await whoAmI()).user!;
      };
      return { watched, page, asked, press, arrived, whoAmI };
    }

    test('one that is not on the chain yet (ERC-6492) signs in, and is the same user once it is (ERC-1271)', async () => {
      const mine = await wallet(false);
      const first = await open([mine]);
      await first.press('Test Wallet');
      const user = await first.arrived();
      assert.equal(user.name, shortName(mine.address));
      assert.deepEqual(
        first.asked.map(({ method }) => method),
        ['eth_requestAccounts', 'eth_chainId', 'personal_sign'],
      );
      assertQuiet(first.watched);
      await first.watched.context.close();

      await mine.deploy();
      const second = await open([mine]);
      await second.press('Test Wallet');
      assert.equal((await second.arrived()).id, user.id);
      assertQuiet(second.watched);
      await second.watched.context.close();
    });

    test('of several wallets the chosen one signs, on the right chain; one that does not announce itself works too', async () => {
      const [one, other] = [await wallet(true), { ...(await wallet(true)), name: 'Other Wallet', chainId: 1 }];
      const several = await open([one, other]);
      await assertAccessible(several.page, 'two wallets');
      await several.press('Other Wallet');
      assert.equal((await several.arrived()).name, shortName(other.address));
      assert.ok(several.asked.some(({ method }) => method === 'wallet_switchEthereumChain'));
      await several.watched.context.close();

      const alone = await open([{ ...one, announced: false }]);
      await alone.press('the wallet in this browser');
      assert.equal((await alone.arrived()).name, shortName(one.address));
      await alone.watched.context.close();
    });

    test('a refusal of the wallet, an ordinary key and a wrong signature are told, and nobody is signed in', async () => {
      const mine = await wallet(true);
      const key = privateKeyToAccount(generatePrivateKey());
      const wallets: Wallet[] = [
        { ...mine, name: 'Refuser', signMessage: () => Promise.reject(new Error('User rejected the request')) },
        { name: 'Key', announced: true, address: key.address, signMessage: (message) => key.signMessage({ message }) },
        { ...mine, name: 'Forger', signMessage: (message) => key.signMessage({ message }) },
      ];
      const { watched, page, press, whoAmI } = await open(wallets);
      for (const [name, text] of [
        ['Refuser', 'User rejected the request'],
        ['Key', 'Only smart-contract wallets are supported'],
        ['Forger', 'Invalid signature'],
      ] as const) {
        await press(name);
        await page.getByRole('alert').getByText(text, { exact: true }).waitFor();
      }
      assert.equal((await whoAmI()).user, null);
      assertQuiet(watched, [/401 .*api\/wallet-auth/]);
      await watched.context.close();
    });

    test('without a wallet in the browser, the message is signed elsewhere and the signature pasted', async () => {
      const mine = await wallet(true);
      const { watched, page, arrived } = await open([]);
      await page.getByText('No wallet was found in this browser').waitFor();
      await page.getByLabel('Wallet address').fill(mine.address);
      await page.getByRole('button', { name: 'Prepare the message' }).click();
      const message = await page.locator('pre').innerText();
      await page.getByLabel('Signature').fill(await mine.signMessage(message));
      await page.getByRole('button', { name: 'Sign in', exact: true }).last().click();
      assert.equal((await arrived()).name, shortName(mine.address));
      assertQuiet(watched);
      await watched.context.close();
    });
  },
  { L2_RPC_URL: chain?.rpcUrl ?? '' },
);
