import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request that the processor got: its path and its form. */
interface CardRequest {
  path: string;
  form: Record<string, string>;
  headers: IncomingMessage['headers'];
}

const WEBHOOK_SECRET = 'whsec_test';

/** Settings that point a service at the stand-in. */
export const cardEnv = (address: string) => ({
  BILLING_SECRET_KEY: 'sk_test_card',
  BILLING_WEBHOOK_SECRET: WEBHOOK_SECRET,
  BILLING_API_BASE: address,
});

/** The card processor's API as far as it is used, over HTTP; `fail` makes it answer with that status. */
export async function startCardProcessor() {
  const requests: CardRequest[] = [];
  const state = { fail: 0 };
  let made = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = request.url ?? '';
    const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
    requests.push({ path, form, headers: request.headers });
    made += 1;
    const answers: Record<string, object> = {
      '/v1/customers': { id: `cus_${made}`, object: 'customer' },
      '/v1/checkout/sessions': {
        id: `cs_${made}`,
        object: 'checkout.session',
        url: `https://cards.example/pay/${made}`,
      },
      '/v1/billing_portal/sessions': { id: `bps_${made}`, url: `https://cards.example/portal/${made}` },
    };
    const body = state.fail ? { error: { message: 'broken' } } : answers[path];
    response.writeHead(state.fail || (body ? 200 : 404), { 'content-type': 'application/json' });
    response.end(JSON.stringify(body ?? { error: { message: 'no such path' } }));
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    state,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The header with which the processor signs a payload. */
export function cardSignature(payload: string, { at = Date.now(), secret = WEBHOOK_SECRET } = {}): string {
  const time = Math.floor(at / 1000);
  return `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${payload}`).digest('hex')}`;
}

/** What the processor reports of a top-up that was paid. */
export const completedCheckout = (id: string, address: string, cents: number, given: object = {}): string =>
  JSON.stringify({
    id: `evt_${id}`,
    object: 'event',
    type: 'checkout.session.completed',
    data: {
      object: {
        id,
        object: 'checkout.session',
        payment_status: 'paid',
        amount_total: cents,
        currency: 'usd',
        metadata: { type: 'wallet_top_up', walletAddress: address, amountCents: String(cents) },
        ...given,
      },
    },
  });
