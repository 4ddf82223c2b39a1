import type { Page } from 'playwright-core';

/** From the click on Talk until the last words of a long conversation are drawn, and it stands at its end. */

const AT_END = `(words) => new Promise((resolve) => {
  const look = () => {
    const log = document.querySelector('[role=log]');
    const isThere = log?.textContent?.includes(words) && log.scrollHeight - log.scrollTop - log.clientHeight < 80;
    if (!isThere) return requestAnimationFrame(look);
    requestAnimationFrame(() => resolve(Date.now()));
  };
  look();
})`;

/** Each time by a page that has been loaded anew: nothing of it is known yet. */
export async function openings(page: Page, agentId: string, words: string, rounds: number): Promise<number[]> {
  const took: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await page.goto(`/dashboard/agents/${agentId}?tab=work&part=conversations`);
    const talk = page.getByRole('tab', { name: 'Talk' });
    await talk.waitFor();
    // What the page itself still does is not what is measured.
    await page.waitForLoadState('networkidle');
    const began = Date.now();
    const drawn = page.evaluate<number>(`(${AT_END})(${JSON.stringify(words)})`);
    await talk.click();
    took.push((await drawn) - began);
  }
  return took;
}
