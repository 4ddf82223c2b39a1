import type { web, TypesOf } from '@troupe/contract';

/** Between the browser's bytes and the API's texts. */

type Asked = TypesOf<typeof web.secondStep.startPasskey>['reply'];
type Made = TypesOf<typeof web.factors.startPasskey>['reply'];

/** Browsers keep passkeys for host names, and only where nobody can listen in. */
export const passkeysWork = (): boolean => 'PublicKeyCredential' in window && !/^[\d.]+$|^\[/.test(location.hostname);

const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));

const textOf = (bytes: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** Null: the person let it be, or the authenticator could not. */
async function asked<T extends Credential>(ask: Promise<Credential | null>): Promise<T | null> {
  try {
    return (await ask) as T | null;
  } catch (error) {
    if (error instanceof DOMException) return null;
    throw error;
  }
}

export async function askPasskey({ challenge, allowCredentials, ...rest }: Asked) {
  const found = await asked<PublicKeyCredential>(
    navigator.credentials.get({
      publicKey: {
        ...rest,
        challenge: bytesOf(challenge),
        allowCredentials: allowCredentials.map(({ id, type, transports }) => ({
          id: bytesOf(id),
          type,
          transports: transports as AuthenticatorTransport[],
        })),
      },
    }),
  );
  if (!found) return null;
  const response = found.response as AuthenticatorAssertionResponse;
  return {
    id: found.id,
    type: 'public-key' as const,
    response: {
      clientDataJSON: textOf(response.clientDataJSON),
      authenticatorData: textOf(response.authenticatorData),
      signature: textOf(response.signature),
      userHandle: response.userHandle && textOf(response.userHandle),
    },
  };
}

export async function makePasskey({ challenge, user, excludeCredentials, ...rest }: Made) {
  const made = await asked<PublicKeyCredential>(
    navigator.credentials.create({
      publicKey: {
        ...rest,
        challenge: bytesOf(challenge),
        user: { ...user, id: bytesOf(user.id) },
        excludeCredentials: excludeCredentials.map(({ id, type }) => ({ id: bytesOf(id), type })),
      },
    }),
  );
  const response = made?.response as AuthenticatorAttestationResponse | undefined;
  const publicKey = response?.getPublicKey();
  if (!made || !response || !publicKey) return null;
  return {
    id: made.id,
    type: 'public-key' as const,
    response: {
      clientDataJSON: textOf(response.clientDataJSON),
      authenticatorData: textOf(response.getAuthenticatorData()),
      publicKey: textOf(publicKey),
      publicKeyAlgorithm: response.getPublicKeyAlgorithm(),
      transports: response.getTransports(),
    },
  };
}
