import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WIDGET_DEFAULTS, web } from '@troupe/contract';
import { bodyOf, formOf } from './widget-form.ts';

test('what stands in the fields is what the contract takes', () => {
  const { enabled: _, ...defaults } = WIDGET_DEFAULTS;
  assert.deepEqual(bodyOf(formOf(undefined)), defaults);
  const form = { ...formOf(undefined), origins: ' https://a.example\n\nhttps://b.example ', dailyCapUsd: '2,5' };
  const read = web.widgets.create.body!.safeParse(bodyOf(form));
  assert.deepEqual(read.data, { ...defaults, origins: ['https://a.example', 'https://b.example'], dailyCapUsd: 2.5 });
});

test('what is no number is refused with a sentence', () => {
  const read = web.widgets.create.body!.safeParse(bodyOf({ ...formOf(undefined), retentionDays: 'ten' }));
  assert.equal(read.error?.issues[0]?.message, 'retentionDays must be a whole number from 1 to 365');
});
