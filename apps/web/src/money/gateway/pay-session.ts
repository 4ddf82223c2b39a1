import { isNonce, signVoucher, type Address, type Wallets } from '@troupe/chain';
import { gatewayVoucherJob } from '@troupe/contract';
import type { Jobs } from '@troupe/db';
import { formatAmount, parseAmount } from '@troupe/domain';
import { AppError, parseJson, randomHex } from '@troupe/kernel';
import { INSUFFICIENT_BALANCE, USD_DECIMALS } from '@troupe/ledger';
import { SESSION_OVER, type PaymentSessions } from '../payment-sessions/service.ts';
import type { Plugin } from './plugins.ts';
import type { Pay, PluginCall } from './service.ts';

/** Payment by a voucher on a session: held while the plugin works, counted when it has answered. */

interface SessionPayDeps {
  sessions: PaymentSessions;
  wallets: Wallets;
  jobs: Jobs;
  chainId: number;
}

interface SignedVoucher {
  nonce: string;
  signature: string;
}

const UNFINISHED_SECONDS = 120;
const MAX_HEADER = 20_000;

export function createSessionPayments({ sessions, wallets, jobs, chainId }: SessionPayDeps): Pay {
  // What a crash interrupted was never answered, so it is not paid either.
  jobs.work(gatewayVoucherJob, ({ voucherId }) => sessions.refund(BigInt(voucherId)));

  /** The one in the header; else one by the platform, for the signed-in owner of a wallet that it keeps. */
  async function voucherFor(call: PluginCall, plugin: Plugin, session: { id: string; address: string }) {
    if (call.voucher !== undefined) return readVoucher(call.voucher, plugin);
    const account = call.user && (await wallets.account({ userId: call.user.id }, session.address as Address));
    if (!account) throw refused('voucher_required', plugin);
    const nonce = `0x${randomHex(32)}` as const;
    const voucher = { sessionId: session.id, plugin: plugin.id, amount: plugin.price, nonce };
    return { nonce, signature: await signVoucher(account, voucher, chainId) };
  }

  return async (call, plugin, serve) => {
    if (call.sessionId === undefined) throw refused('session_required', plugin);
    const session = await sessions.find(call.sessionId);
    if (session === null || session.closing) throw refused('session_invalid', plugin);
    const { nonce, signature } = await voucherFor(call, plugin, session);
    const voucher = { sessionId: session.id, plugin: plugin.id, units: plugin.price, nonce, signature };
    const { voucherId, remaining } = await sessions
      .hold(session, voucher, async (tx, id) => {
        await jobs.send(
          tx,
          gatewayVoucherJob,
          { voucherId: String(id) },
          { startAfter: UNFINISHED_SECONDS, owner: session.address },
        );
      })
      .catch((error: unknown) => {
        throw asRefusal(error, plugin);
      });
    try {
      await serve();
    } catch (error) {
      await sessions.refund(voucherId);
      throw error;
    }
    await sessions.confirm(voucherId);
    return { receipt: `${session.id}:${nonce}`, headers: { 'x-session-remaining': remaining } };
  };
}

function refused(error: string, { id, price }: Plugin, reason?: string): AppError {
  const amount = formatAmount(price, USD_DECIMALS);
  return new AppError(402, error, { plugin: id, amount, currency: 'USD', ...(reason ? { reason } : {}) });
}

/** What the session says, in the words of the gateway. */
function asRefusal(error: unknown, plugin: Plugin): unknown {
  if (!(error instanceof AppError) || error.status >= 500) return error;
  if (error.code === INSUFFICIENT_BALANCE) return refused('insufficient_balance', plugin);
  if (error.code === SESSION_OVER) return refused('session_invalid', plugin);
  return refused('voucher_required', plugin, error.message);
}

function readVoucher(header: string, plugin: Plugin): SignedVoucher {
  const bad = (reason: string) => refused('voucher_required', plugin, reason);
  if (header.length > MAX_HEADER) throw bad('The voucher is too long');
  let parsed: unknown;
  try {
    parsed = parseJson(Buffer.from(header, 'base64url').toString('utf8'));
  } catch {
    throw bad('The voucher is not base64url of JSON');
  }
  const { amount, nonce, signature } = (parsed ?? {}) as Record<string, unknown>;
  if (!isNonce(nonce) || typeof signature !== 'string') throw bad('The voucher needs amount, nonce and signature');
  if (parseAmount(String(amount), USD_DECIMALS) !== plugin.price) throw bad('The amount is not the price');
  return { nonce, signature };
}
