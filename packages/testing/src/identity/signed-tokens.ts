import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose';

interface Key {
  kid: string;
  alg: string;
  privateKey: CryptoKey;
  jwk: JWK;
}

/** An issuer of signed tokens over HTTP: its documents and its keys, which can be changed or made to fail. */
export async function startIssuer() {
  const published: JWK[] = [];
  const requests: string[] = [];
  const state: { fail: boolean } = { fail: false };
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    const documents: Record<string, unknown> = {
      '/.well-known/risc-configuration': { issuer: `${address}/`, jwks_uri: `${address}/risc-keys` },
      '/.well-known/openid-configuration': { issuer: address, jwks_uri: `${address}/keys` },
      '/risc-keys': { keys: published },
      '/keys': { keys: published },
    };
    const document = documents[request.url ?? ''];
    response.writeHead(state.fail ? 500 : document ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(document ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let made = 0;

  /** A new key; published unless said. */
  async function newKey({ alg = 'RS256', publish = true } = {}): Promise<Key> {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    made += 1;
    const kid = `key-${made}`;
    const jwk = { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' };
    if (publish) published.push(jwk);
    return { kid, alg, privateKey, jwk };
  }

  return {
    address,
    state,
    published,
    requests,
    newKey,
    sign: (key: Key, claims: JWTPayload, header: object = {}): Promise<string> =>
      new SignJWT(claims).setProtectedHeader({ alg: key.alg, kid: key.kid, ...header }).sign(key.privateKey),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
