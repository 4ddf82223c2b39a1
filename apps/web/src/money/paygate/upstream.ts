import { formatAmount } from '@troupe/domain';
import { AppError, createOutbound, OutboundError, type Log } from '@troupe/kernel';
import { USD_DECIMALS } from '@troupe/ledger';
import { PaymentProblem, type Colony, type Json } from './colony.ts';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 1_048_576;

export function createUpstream({ url, log }: { url: string; log: Log }): Colony {
  // The operator's own choice, private addresses included.
  const outbound = createOutbound({ allowLoopback: true, allowPrivate: true });

  async function ask(path: string, body?: Json): Promise<Json> {
    const answer = await outbound
      .fetch(`${url}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        timeout: TIMEOUT_MS,
        maxBytes: MAX_BYTES,
        redirects: 0,
      })
      .catch(unreachable);
    const text = await answer.text().catch(unreachable);
    const parsed = jsonOf(text);
    if (answer.status === 402) throw new AppError(402, 'Payment required', { upstream: parsed });
    if (answer.status >= 300 || answer.status < 200 || parsed === null) {
      log.warn({ path, status: answer.status }, 'the payment gateway failed');
      throw new AppError(502, 'Payment gateway failed', { upstreamStatus: answer.status });
    }
    return parsed;
  }

  function unreachable(cause: unknown): never {
    log.warn({ err: cause }, 'the payment gateway does not answer');
    throw new AppError(503, 'Payment gateway unreachable', {}, { cause });
  }

  const segment = encodeURIComponent;
  return {
    gateway: 'upstream',
    health: () => ask('/health'),
    join: ({ agentId }, walletAddress) => ask('/gateway/colony/join', { agentId, walletAddress }),
    fitness: ({ agentId }) => ask(`/gateway/fitness/${segment(agentId)}`),
    pricing: ({ agentId }) => ask(`/gateway/pricing/${segment(agentId)}`),
    endpoints: () => ask('/gateway/endpoints'),
    async pay({ agentId }, { id, units, currency, recipient, endpoint, method }) {
      const amount = Number(formatAmount(units, USD_DECIMALS));
      try {
        return await ask('/gateway/pay', {
          agentId,
          amount,
          currency,
          recipient,
          ...(endpoint === null ? {} : { endpoint }),
          method,
          paymentId: id,
        });
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        throw new PaymentProblem(isRefusal(error) ? 'failed' : 'unknown', error);
      }
    },
    close: () => outbound.close(),
  };
}

/** An answer that refuses, or nobody there to ask. Silence, an error or an answer that cannot be read may be a payment. */
function isRefusal({ status, extra, cause }: AppError): boolean {
  const answered = Number(extra['upstreamStatus']);
  if (status !== 503) return status === 402 || (answered >= 400 && answered < 500 && answered !== 408);
  if (!(cause instanceof OutboundError)) return false;
  if (cause.kind === 'blocked' || cause.kind === 'bad_url') return true;
  const code = (cause.cause as { code?: unknown } | undefined)?.code;
  return code === 'ECONNREFUSED' || code === 'ENOTFOUND';
}

function jsonOf(text: string): Json | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}
