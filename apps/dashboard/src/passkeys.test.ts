import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { askPasskey, makePasskey, passkeysWork } from './passkeys.ts';

const put = (name: string, value: unknown, on: object = globalThis) =>
  Object.defineProperty(on, name, { value, configurable: true, writable: true });
const credentials = (get: (options: unknown) => Promise<unknown>) =>
  put('credentials', { get, create: get }, navigator);
afterEach(() => {
  for (const name of ['window', 'location']) Reflect.deleteProperty(globalThis, name);
  Reflect.deleteProperty(navigator, 'credentials');
});

const bytes = (...values: number[]) => new Uint8Array(values).buffer;
const asked = { challenge: '-_8', rpId: 'x', timeout: 1, userVerification: 'preferred', allowCredentials: [] } as never;

test('work under a name, and not under a number', () => {
  put('window', { PublicKeyCredential: Object });
  const at = (hostname: string) => {
    put('location', { hostname });
    return passkeysWork();
  };
  assert.deepEqual(['localhost', 'troupe.example'].map(at), [true, true]);
  assert.deepEqual(['127.0.0.1', '10.0.0.7', '[::1]'].map(at), [false, false, false]);
  put('window', {});
  assert.equal(at('localhost'), false);
});

test('bytes are texts on the way there and back', async () => {
  let given: { publicKey: { challenge: Uint8Array } } | undefined;
  credentials(async (options) => {
    given = options as typeof given;
    const response = {
      clientDataJSON: bytes(1),
      authenticatorData: bytes(251, 255),
      signature: bytes(),
      userHandle: null,
    };
    return { id: 'id', response };
  });
  const answer = await askPasskey(asked);
  assert.deepEqual([...given!.publicKey.challenge], [251, 255]);
  assert.deepEqual(answer?.response, {
    clientDataJSON: 'AQ',
    authenticatorData: '-_8',
    signature: '',
    userHandle: null,
  });
});

test('a person who lets it be gives none; any other fault is one', async () => {
  credentials(() => Promise.reject(new DOMException('let be', 'NotAllowedError')));
  assert.equal(await askPasskey(asked), null);
  credentials(async () => null);
  assert.equal(await askPasskey(asked), null);
  credentials(() => Promise.reject(new TypeError('broken')));
  await assert.rejects(askPasskey(asked), TypeError);
});

test('one that was made without a key that can be read is none', async () => {
  const made = {
    challenge: 'AA',
    user: { id: 'AA', name: 'n', displayName: 'd' },
    excludeCredentials: [{ id: 'AA', type: 'public-key' }],
  } as never;
  const response = {
    getPublicKey: () => null as ArrayBuffer | null,
    getAuthenticatorData: () => bytes(2),
    getPublicKeyAlgorithm: () => -7,
    getTransports: () => ['usb'],
    clientDataJSON: bytes(1),
  };
  credentials(async () => ({ id: 'id', response }));
  assert.equal(await makePasskey(made), null);
  response.getPublicKey = () => bytes(3);
  const passkey = await makePasskey(made);
  assert.deepEqual([passkey?.response.publicKey, passkey?.response.publicKeyAlgorithm], ['Aw', -7]);
});
