import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { busDigest, busMessageSigned, createRecover, createVerifier, type Address, type Hex } from '@troupe/chain';
import { hashMessage, recoverAddress } from 'viem';

/** A process that checks signed messages, on its own thread or (to compare) on the loop, and answers a small route. */

type Message = { from: { walletAddress: Address }; signature: Hex };

const verifier = createVerifier({ recover: createRecover() });
const inThread = (message: Message) => busMessageSigned(verifier, { message, by: message.from.walletAddress });
const onLoop = async (message: Message) =>
  (await recoverAddress({ hash: hashMessage({ raw: busDigest(message) }), signature: message.signature })) ===
  message.from.walletAddress;
const signed = process.argv[2] === 'loop' ? onLoop : inThread;

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === '/small') {
    response.end('{"ok":true}');
    return;
  }
  let text = '';
  for await (const part of request) text += String(part);
  const good = await signed(JSON.parse(text) as Message).catch(() => false);
  response.writeHead(good ? 200 : 401).end();
}

const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1', () =>
  console.log((server.address() as AddressInfo).port),
);
