import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesOf, deviceName } from './push.ts';

test('a device is called by its browser and system', () => {
  const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36';
  assert.equal(deviceName(chrome), 'Chrome on Linux');
  assert.equal(deviceName(`${chrome} Edg/140.0`), 'Edge on Linux');
  assert.equal(
    deviceName('Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1'),
    'Safari on iOS',
  );
  assert.doesNotMatch(deviceName(''), /undefined/);
});

test('a key is read as browsers take it', () => {
  assert.deepEqual([...bytesOf('-_8')], [251, 255]);
});
