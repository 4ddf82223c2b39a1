import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readForm } from './form.ts';

async function sent(form: FormData): Promise<[string, Buffer]> {
  const request = new Request('http://here.test', { method: 'POST', body: form });
  return [request.headers.get('content-type')!, Buffer.from(await request.arrayBuffer())];
}

describe('forms', () => {
  it('are read as they were sent, whatever is in them', async () => {
    const form = new FormData();
    form.set('note', 'a\r\nb – ü');
    form.set('empty', '');
    const bytes = Buffer.from(Array.from({ length: 5000 }, (_, n) => n % 256));
    form.set('file', new File([bytes], 'C:\\secret\\"plän".bin', { type: 'application/x-thing' }));
    form.set('none', new File([], 'none.txt'));
    const { fields, files } = readForm(...(await sent(form)));
    assert.deepEqual(
      [...fields],
      [
        ['note', 'a\r\nb – ü'],
        ['empty', ''],
      ],
    );
    const file = files.get('file')!;
    assert.deepEqual([file.name, file.type], ['"plän".bin', 'application/x-thing']);
    assert.deepEqual(Buffer.from(file.bytes), bytes);
    assert.deepEqual([files.get('none')!.name, files.get('none')!.bytes.length], ['none.txt', 0]);
  });

  it('that are cut anywhere, or are none, are refused', async () => {
    const form = new FormData();
    form.set('a', 'b');
    form.set('file', new File(['hello'], 'a.txt'));
    const [type, bytes] = await sent(form);
    const whole = bytes.lastIndexOf('--');
    for (let end = 0; end < whole; end += 1)
      assert.throws(() => readForm(type, bytes.subarray(0, end)), { status: 400 }, String(end));
    for (const other of ['application/json', 'multipart/form-data', 'multipart/form-data; boundary=', undefined, 7])
      assert.throws(() => readForm(other, bytes), { status: 400 });
  });

  it('with too many parts, or a field that is too large, are refused', async () => {
    const many = new FormData();
    for (let n = 0; n < 21; n += 1) many.append(`f${n}`, 'x');
    const large = new FormData();
    large.set('a', 'x'.repeat(70_000));
    for (const form of [many, large]) {
      const [type, bytes] = await sent(form);
      assert.throws(() => readForm(type, bytes), { status: 400, message: /may have/ });
    }
  });
});
