import module from 'node:module';
import '../../../scripts/lib/test-resolves.ts';

/** Loaded before a release that runs from its sources: what its first process compiles the next ones find, while it goes on. */
for (const seconds of [1, 2, 4, 8]) setTimeout(() => module.flushCompileCache(), seconds * 1000).unref();
