import { after, before, describe } from 'node:test';
import type { Browser } from 'playwright-core';
import { needs } from '@troupe/testing/machine/needs';
import { openBrowser } from './browser.ts';
import { startPlatform } from './platform.ts';
import type { RunningPlatform } from './platform.ts';

export interface Stage {
  platform: RunningPlatform;
  browser: Browser;
}

/** Tests in a real browser against a platform of their own. `stage` is filled before the first of them runs. */
export function browserSuite(name: string, body: (stage: Stage) => void, env: Record<string, string> = {}): void {
  describe(name, { skip: needs('chromium') }, () => {
    const stage = {} as Stage;
    before(async () => {
      stage.platform = await startPlatform(env);
      stage.browser = await openBrowser();
    });
    after(async () => {
      await stage.browser?.close();
      await stage.platform?.stop();
    });
    body(stage);
  });
}
