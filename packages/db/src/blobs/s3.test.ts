import assert from 'node:assert/strict';
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { amazonSigned, readSettings, silentLog, StartError, type Settings } from '@troupe/kernel';
import { testDatabase, testUser, type TestDatabase } from '@troupe/testing/database/server';
import { createBlobs, openBlobs } from './blobs.ts';
import { toChunk } from './chunks.ts';
import { createS3, objectsFrom } from './s3.ts';

const account = {
  region: 'us-east-1',
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};
const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');

/** An object store as Amazon's protocol has it: it takes nothing whose signature it does not come to itself. */
async function standIn(secret = account.secretAccessKey) {
  const objects = new Map<string, Buffer>();
  let failures = 0;
  const problem = (status: number, code: string) => ({
    status,
    body: `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`,
  });

  function check(request: IncomingMessage, body: Buffer): string | undefined {
    const { headers } = request;
    const given =
      /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request,\s*SignedHeaders=([^,]+),\s*Signature=([0-9a-f]{64})$/.exec(
        headers.authorization ?? '',
      );
    if (!given) return 'AuthorizationHeaderMalformed';
    const [, , day = '', region = '', names = '', signature] = given;
    for (const needed of ['host', 'x-amz-content-sha256', 'x-amz-date'])
      if (!names.split(';').includes(needed)) return 'AccessDenied';
    if (headers['x-amz-content-sha256'] !== sha256(body)) return 'XAmzContentSHA256Mismatch';
    const stamp = String(headers['x-amz-date']);
    const at = Date.parse(stamp.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
    if (!(Math.abs(Date.now() - at) < 900_000)) return 'RequestTimeTooSkewed';
    const lines = names
      .split(';')
      .map((name) => `${name}:${String(headers[name]).trim()}\n`)
      .join('');
    const [path = '', query = ''] = (request.url ?? '').split('?');
    const canonical = `${request.method}\n${path}\n${query}\n${lines}\n${names}\n${sha256(body)}`;
    let key = createHmac('sha256', `AWS4${secret}`).update(day).digest();
    for (const step of [region, 's3', 'aws4_request']) key = createHmac('sha256', key).update(step).digest();
    const text = `AWS4-HMAC-SHA256\n${stamp}\n${day}/${region}/s3/aws4_request\n${sha256(canonical)}`;
    return createHmac('sha256', key).update(text).digest('hex') === signature ? undefined : 'SignatureDoesNotMatch';
  }

  function answer(request: IncomingMessage, body: Buffer): { status: number; body?: string | Buffer } {
    const wrong = check(request, body);
    if (wrong !== undefined) return problem(403, wrong);
    if (failures > 0) {
      failures -= 1;
      return problem(503, 'SlowDown');
    }
    const name = decodeURIComponent(request.url ?? '');
    if (!name.startsWith('/bucket/')) return problem(404, 'NoSuchBucket');
    if (request.method === 'PUT') objects.set(name, body);
    else if (request.method === 'DELETE') objects.delete(name);
    else return objects.has(name) ? { status: 200, body: objects.get(name)! } : problem(404, 'NoSuchKey');
    return { status: request.method === 'PUT' ? 200 : 204 };
  }

  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (piece: Buffer) => parts.push(piece));
    request.on('end', () => {
      const { status, body } = answer(request, Buffer.concat(parts));
      response.writeHead(status, { 'x-amz-request-id': 'x' }).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    objects,
    fail: (times: number) => void (failures = times),
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe('an object store', () => {
  let store: Awaited<ReturnType<typeof standIn>>;
  let database: TestDatabase;
  before(async () => {
    store = await standIn();
    database = await testDatabase();
    await testUser(database.db, 'ann');
    await sql`insert into agents (id, user_id, name) values ('a', 'ann', 'A')`.execute(database.db.system);
  });
  after(async () => {
    store.close();
    await database.drop();
  });
  const s3 = (more = {}) =>
    createS3({ ...account, endpoint: store.endpoint, bucket: 'bucket', prefix: 'a b/ü', retryMs: 1, ...more });

  test('signs as the published examples do', () => {
    const url = new URL('https://examplebucket.s3.amazonaws.com/test.txt');
    const at = new Date('2013-05-24T00:00:00Z');
    const { authorization } = amazonSigned(
      { method: 'GET', url, headers: { range: 'bytes=0-9' }, at },
      { ...account, service: 's3' },
    );
    assert.ok(authorization?.endsWith('Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41'));
    const put = amazonSigned(
      {
        method: 'PUT',
        url: new URL('https://examplebucket.s3.amazonaws.com/test%24file.text'),
        headers: { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
        body: Buffer.from('Welcome to Amazon S3.'),
        at,
      },
      { ...account, service: 's3' },
    );
    assert.ok(
      put['authorization']?.endsWith('Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd'),
    );
    const list = new URL('https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J');
    const listed = amazonSigned({ method: 'GET', url: list, at }, { ...account, service: 's3' })['authorization'];
    assert.ok(listed?.endsWith('Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7'));
  });

  test('takes, gives and removes objects, over moments in which it cannot', async () => {
    const objects = s3();
    const bytes = randomBytes(100_000);
    store.fail(2);
    await objects.put('one', bytes);
    assert.deepEqual([...store.objects.keys()], ['/bucket/a b/ü/one']);
    assert.deepEqual(Buffer.from(await objects.get('one')), bytes);
    await objects.remove('one');
    await objects.remove('one');
    assert.equal(store.objects.size, 0);
    await assert.rejects(objects.get('one'), /answered 404 \(NoSuchKey\)/);
    store.fail(100);
    await assert.rejects(objects.put('one', bytes), /answered 503 \(SlowDown\)/);
    store.fail(0);
    await assert.rejects(s3({ secretAccessKey: 'wrong' }).get('one'), /answered 403 \(SignatureDoesNotMatch\)/);
    await objects.close();
  });

  test('holds what is large, and nothing that nobody has', async () => {
    const objects = s3();
    const blobs = createBlobs({ db: database.db, log: silentLog, objects, graceMinutes: 0 });
    const tree = blobs.tree({ userId: 'ann', agentId: 'a', name: 'workspace' });
    const [large, small] = [await toChunk(randomBytes(300_000)), await toChunk(Buffer.from('small'))];
    const file = (path: string, { hash, size }: typeof large) => ({
      path,
      kind: 'file' as const,
      mode: 0o600,
      size,
      parts: [hash],
    });
    await tree.store({ chunks: [large, small], files: [file('large', large), file('small', small)] });
    assert.equal(store.objects.size, 1, 'only the large one is there');
    const said = await tree.get([large.hash, small.hash]);
    assert.deepEqual(Buffer.from(said.get(large.hash)!), Buffer.from(large.bytes));
    // Stored again by a machine that did not know of it; and left by one that was killed before the piece was listed.
    await tree.put([large]);
    await objects.put('left', randomBytes(10));
    await sql`insert into blob_objects (object, user_id) values ('left', 'ann')`.execute(database.db.system);
    assert.equal(store.objects.size, 3);
    await blobs.sweep();
    assert.equal(store.objects.size, 1);
    const again = await tree.get([large.hash]);
    assert.equal(again.size, 1);
    // A damaged object is found out.
    const [name = ''] = store.objects.keys();
    const right = store.objects.get(name)!;
    store.objects.set(name, Buffer.from('something else'));
    await assert.rejects(tree.get([large.hash]), /damaged/);
    store.objects.set(name, right);
    await tree.store({ gone: ['large'] });
    await blobs.sweep();
    assert.equal(store.objects.size, 0);
    await tree.store({ chunks: [large], files: [file('large', large)] });
    await sql`delete from users where id = 'ann'`.execute(database.db.system);
    await blobs.sweep();
    assert.equal(store.objects.size, 0, 'what a user had goes with the user');
    await blobs.close();
  });

  test('is refused at the start when it cannot be used, or is left out where it is needed', async () => {
    const given = (more: Record<string, string>): Settings =>
      readSettings({
        BLOB_STORE: 's3://bucket/x',
        S3_ENDPOINT: store.endpoint,
        S3_ACCESS_KEY_ID: account.accessKeyId,
        ...more,
      });
    const opened = (settings: Settings) => openBlobs(settings, { db: database.db, log: silentLog });
    await assert.rejects(opened(given({})), /S3_SECRET_ACCESS_KEY must be set/);
    await assert.rejects(
      opened(given({ S3_SECRET_ACCESS_KEY: 'wrong' })),
      (error) => error instanceof StartError && /SignatureDoesNotMatch/.test(error.message),
    );
    const blobs = await opened(given({ S3_SECRET_ACCESS_KEY: account.secretAccessKey }));
    await blobs?.close();
    assert.throws(() => readSettings({ BLOB_STORE: 'somewhere' }), /expected folder, postgres or s3/);
    assert.equal(objectsFrom(readSettings({ BLOB_STORE: 'postgres' })), undefined);
    assert.equal(await opened(readSettings({})), undefined, 'with the embedded database: a folder');
    assert.ok(await opened(readSettings({ DATABASE_URL: 'postgres://db' })), 'with one of its own: there');
    await testUser(database.db, 'bob');
    await sql`insert into agents (id, user_id, name) values ('b', 'bob', 'B')`.execute(database.db.system);
    const objects = s3();
    const tree = createBlobs({ db: database.db, log: silentLog, objects }).tree({
      userId: 'bob',
      agentId: 'b',
      name: 'workspace',
    });
    await tree.store({});
    await assert.rejects(opened(readSettings({})), /set BLOB_STORE=postgres/);
    await tree.put([await toChunk(randomBytes(300_000))]);
    await assert.rejects(opened(readSettings({ BLOB_STORE: 'postgres' })), /are in an object store/);
    await objects.close();
  });
});
