import type { Page } from 'playwright-core';
import { settle } from '../../tests/e2e/browser.ts';
import type { WordsModel } from '../../tests/e2e/words-model.ts';

/** From the moment in which the model says its first word until it is drawn; both clocks are this machine's. */

const WATCH = `(word) => new Promise((resolve) => {
  const look = () => {
    if (!document.querySelector('[role=log]')?.textContent?.includes(word)) return requestAnimationFrame(look);
    requestAnimationFrame(() => resolve(Date.now()));
  };
  look();
})`;

export async function firstWords(page: Page, agentId: string, model: WordsModel, rounds: number): Promise<number[]> {
  const waits: number[] = [];
  await settle(page, `/dashboard/agents/${agentId}?tab=chat`);
  for (let round = 0; round < rounds; round += 1) {
    const word = `First${round}x`;
    await page.getByLabel('Message').fill(`Tell story ${round}`);
    await page.getByLabel('Message').press('Enter');
    const drawn = page.evaluate<number>(`(${WATCH})(${JSON.stringify(word)})`);
    // An empty word is none: it is there when somebody listens.
    await model.write('');
    await page.waitForTimeout(300);
    const saidAt = Date.now();
    await model.write(`${word} `);
    waits.push((await drawn) - saidAt);
    await model.finish();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
  }
  return waits;
}
