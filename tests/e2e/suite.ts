import { after, afterEach, before, describe } from 'node:test';
import type { Browser } from 'playwright-core';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { needs } from '@troupe/testing/machine/needs';
import { startPlatform } from './platform.ts';
import type { RunningPlatform } from './platform.ts';
import { borrowBrowser, closePages, giveBack, shown } from './shared-browser.ts';

export interface Stage {
  platform: RunningPlatform;
  browser: Browser;
}

/**
 * Tests in a real browser against a platform of their own. `stage` is filled before the first of them runs.
 * The platform has a database on the run's server, which is there in half the time, unless `env` names one: an empty
 * DATABASE_URL is the platform's own server.
 */
export function browserSuite(name: string, body: (stage: Stage) => void, env: Record<string, string> = {}): void {
  describe(name, { skip: needs('chromium') }, () => {
    const stage = {} as Stage;
    let database: TestDatabase | undefined;
    before(async () => {
      stage.browser = await borrowBrowser();
      if (env['DATABASE_URL'] === undefined) database = await testDatabase();
      stage.platform = await startPlatform({ ...(database && { DATABASE_URL: database.url }), ...env });
    });
    afterEach(async (context) => {
      if ('passed' in context && !context.passed && stage.browser)
        for (const page of await shown(stage.browser)) context.diagnostic(page);
    });
    after(async () => {
      if (stage.browser) await closePages(stage.browser);
      await stage.platform?.stop();
      await database?.drop();
      if (stage.browser) giveBack();
    });
    body(stage);
  });
}
