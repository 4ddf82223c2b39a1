import asyncHooks, { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded before a file of tests. Node's runner asks to be told of each promise that is made and forgotten, to know which
 * test something belongs to, and whatever runs in the same process pays for that. Here it is told by the context that Node
 * hands on in any case, so that services under test run as they do without tests.
 */

type Run = (this: AsyncResource, fn: (...args: unknown[]) => unknown, thisArg?: unknown, ...args: unknown[]) => unknown;
type Init = (asyncId: number, type: string, trigger: number, resource: object) => void;

/** By the number that the runner knows a test by. */
const current = new AsyncLocalStorage<number>();

async function replaceHook(): Promise<void> {
  const { createHook, executionAsyncId } = asyncHooks;
  let tell: Init | undefined;
  const hook = { enable: () => hook, disable: () => hook };
  Object.assign(asyncHooks, {
    createHook: ({ init }: { init: Init }) => {
      tell = init;
      return hook;
    },
    executionAsyncId: () => current.getStore() ?? executionAsyncId(),
  });
  // takes both of them, for itself alone
  await import('node:test');
  Object.assign(asyncHooks, { createHook, executionAsyncId });

  const runInAsyncScope: Run = AsyncResource.prototype.runInAsyncScope;
  const runKnown: Run = function runKnown(fn, thisArg, ...args) {
    if (tell === undefined || !('createSubtest' in this)) return runInAsyncScope.call(this, fn, thisArg, ...args);
    const id = this.asyncId();
    tell(id, 'Test', 0, this);
    // within, because it begins with the context in which the test was described
    const known = (...given: unknown[]) => current.run(id, () => Reflect.apply(fn, thisArg, given));
    return runInAsyncScope.call(this, known, thisArg, ...args);
  };
  Object.assign(AsyncResource.prototype, { runInAsyncScope: runKnown });
}

if (isMainThread && process.env['NODE_TEST_CONTEXT'] !== undefined) await replaceHook();
