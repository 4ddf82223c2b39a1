import { createHash, createHmac } from 'node:crypto';

/** Signature version 4 of Amazon's services: the whole body is signed. */

export interface AmazonAccount {
  /** Whose request it is: `s3`, `bedrock`. */
  service: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Of keys that end by themselves. */
  sessionToken?: string | undefined;
}

interface Signed {
  method: string;
  url: URL;
  /** Lower-case names. */
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array | string;
  at: Date;
}

const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** As the signature wants it: all but letters, digits and four signs. */
export const amazonEncoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

function canonicalQuery(url: URL): string {
  return [...url.searchParams]
    .map(([name, value]) => `${amazonEncoded(name)}=${amazonEncoded(value)}`)
    .sort()
    .join('&');
}

/** Every service but the object store wants what is encoded in a path encoded once more. */
const canonicalPath = (service: string, { pathname }: URL): string =>
  service === 's3' ? pathname : pathname.split('/').map(amazonEncoded).join('/');

/** All headers that go with the request, the signature among them; `host` is the client's to send. */
export function amazonSigned(
  { method, url, headers = {}, body = '', at }: Signed,
  { service, region, accessKeyId, secretAccessKey, sessionToken }: AmazonAccount,
): Record<string, string> {
  const stamp = at.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const day = stamp.slice(0, 8);
  const sent: Record<string, string> = {
    ...headers,
    'x-amz-content-sha256': sha256(body),
    'x-amz-date': stamp,
    ...(sessionToken !== undefined && { 'x-amz-security-token': sessionToken }),
  };
  const all = Object.entries({ ...sent, host: url.host }).sort(([a], [b]) => (a < b ? -1 : 1));
  const names = all.map(([name]) => name).join(';');
  const request = [
    method,
    canonicalPath(service, url),
    canonicalQuery(url),
    ...all.map(([name, value]) => `${name}:${value.trim().replaceAll(/ +/g, ' ')}`),
    '',
    names,
    sent['x-amz-content-sha256'],
  ].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`);
  const signature = hmac(key as Buffer, ['AWS4-HMAC-SHA256', stamp, scope, sha256(request)].join('\n')).toString('hex');
  return {
    ...sent,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope},SignedHeaders=${names},Signature=${signature}`,
  };
}
