import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { BUILT_IN_CATALOGUE, costMicros, ratesOf, findModel, planAllows } from '@troupe/domain';
import { readCatalogue } from './setup.ts';

describe('the catalogue', () => {
  it('is the built-in one unless a file replaces it', () => {
    assert.equal(readCatalogue(undefined), BUILT_IN_CATALOGUE);
    const file = join(mkdtempSync(join(tmpdir(), 'catalogue-')), 'models.json');
    const models = [{ id: 'own/model', name: 'Own', inputRate: 2, outputRate: 4, servedBy: { ollama: 'own' } }];
    writeFileSync(file, JSON.stringify({ ...BUILT_IN_CATALOGUE, models }));
    const own = readCatalogue(file);
    assert.deepEqual(
      own.models.map((model) => model.id),
      ['own/model'],
    );
    assert.equal(costMicros(ratesOf(own, 'own/model'), 10, 10), 60);
  });

  it('stops the start when the file cannot be used, naming what is wrong', () => {
    assert.throws(() => readCatalogue('/no/such/file.json'), /AI_CATALOGUE/);
    const file = join(mkdtempSync(join(tmpdir(), 'catalogue-')), 'models.json');
    writeFileSync(file, JSON.stringify({ ...BUILT_IN_CATALOGUE, models: [{ id: 'x' }] }));
    assert.throws(() => readCatalogue(file), /models\.0\.name/);
  });

  it('counts rates as they are, however small', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'catalogue-')), 'models.json');
    const write = (inputRate: number) => {
      const model = { id: 'small/model', name: 'Small', inputRate, outputRate: 0.3, servedBy: {} };
      writeFileSync(file, JSON.stringify({ ...BUILT_IN_CATALOGUE, models: [model] }));
    };
    write(0.0375);
    assert.equal(costMicros(ratesOf(readCatalogue(file), 'small/model'), 1_000_000, 1_000_000), 337_500);
    write(0.00001);
    assert.throws(() => readCatalogue(file), /models\.0\.inputRate: a rate has at most four decimals/);
  });

  it('knows a model by each of its names', () => {
    for (const [model, ...names] of [
      ['claude-opus-4-6', 'anthropic/claude-opus-4-6', 'openrouter/anthropic/claude-opus-4-6'],
      ['claude-opus-4-6', 'anthropic/claude-opus-4.6', 'openrouter/anthropic/claude-opus-4.6'],
      ['google/gemini-2.0-flash', 'gemini/gemini-2.0-flash', 'google/gemini-2.0-flash-001', 'gemini-2.0-flash'],
      ['anthropic/claude-sonnet-4.5', 'anthropic/claude-sonnet-4-5', 'claude-sonnet-4-5'],
      ['minimax/minimax-chat', 'minimax/minimax-01', 'openrouter/minimax/minimax-01'],
    ])
      for (const id of [model!, ...names]) assert.equal(findModel(BUILT_IN_CATALOGUE, id)?.id, model, id);
    for (const id of ['evil/claude-sonnet-4-5', 'groq/gemini-2.0-flash', 'flash', 'openai/gpt-4o-2024'])
      assert.equal(findModel(BUILT_IN_CATALOGUE, id), undefined, id);
    assert.equal(findModel(BUILT_IN_CATALOGUE, 'gpt-4o')?.id, 'openai/gpt-4o');
    assert.equal(findModel(BUILT_IN_CATALOGUE, 'evil/gpt-4o'), undefined);
  });

  it('gives each plan its models', () => {
    const count = (plan: string) => BUILT_IN_CATALOGUE.plans[plan]?.length;
    assert.deepEqual([count('solo'), count('collective'), count('label')], [3, 5, 7]);
    assert.equal(planAllows(BUILT_IN_CATALOGUE, 'network', 'any/thing'), true);
    assert.equal(planAllows(BUILT_IN_CATALOGUE, 'solo', 'openrouter/xiaomi/mimo-v2-pro'), true);
    assert.equal(planAllows(BUILT_IN_CATALOGUE, 'free', 'xiaomi/mimo-v2-pro'), false);
  });
});
