import { after, before, describe } from 'node:test';
import { createSandbox } from '@troupe/agent';
import { createOutbound } from '@troupe/kernel';
import { createEmbedded, type Embedded } from './embedded.ts';
import { conformance, front, testGrounds, type Grounds } from './testing.ts';

describe('the embedded driver', () => {
  let grounds: Grounds;
  let driver: Embedded;
  let door: Awaited<ReturnType<typeof front>>;
  before(async () => {
    grounds = await testGrounds();
    const { runtime, thinking, verify } = grounds;
    driver = createEmbedded({
      ...runtime,
      version: '1.0.0',
      sandbox: createSandbox(),
      outbound: createOutbound(),
      thinking,
      verify,
      publicUrl: (id) => `http://agent.test/${id}`,
    });
    door = await front(driver);
  });
  after(async () => {
    door.close();
    await driver.disconnect();
    await driver.close();
    await grounds.runtime.close();
  });
  conformance(() => ({ grounds, driver, ask: door.ask }));
});
