import { setTimeout as delay } from 'node:timers/promises';
import { prepareTestServer } from '@troupe/testing/database/server';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { hostileEmptyFiles } from '@troupe/testing/attacks/empty-files';
import { hostileGlob } from '@troupe/testing/attacks/glob';
import { hostileTasks } from '@troupe/testing/attacks/hanging-tasks';
import type { Prepare } from '@troupe/testing/attacks/hostile';
import { hostileConversation } from '@troupe/testing/attacks/huge-conversation';
import { hostileMcpPages } from '@troupe/testing/attacks/mcp-pages';
import { hostileMcpSchema } from '@troupe/testing/attacks/mcp-schema';
import { hostileSharedMemory } from '@troupe/testing/attacks/shared-memory';
import { hostileSocketFrames } from '@troupe/testing/attacks/socket-frames';
import { hostileYamlKeys } from '@troupe/testing/attacks/yaml-keys';
import { createProbe, type Times } from './containment/probe.ts';
import { finish, printTable, type Row } from './lib/report.ts';
import type { Target } from './lib/results.ts';

/** What everybody else notices while one user attacks: health and another user's chat, against quiet in the same process. */

const ATTACKS: Readonly<Record<string, Prepare>> = {
  glob: hostileGlob,
  mcp_schema: hostileMcpSchema,
  mcp_pages: hostileMcpPages,
  shared_memory: hostileSharedMemory,
  empty_files: hostileEmptyFiles,
  yaml_keys: hostileYamlKeys,
  socket_frames: hostileSocketFrames,
  huge_conversation: hostileConversation,
  hanging_tasks: hostileTasks,
};
const QUIET_MS = 10_000;
/** An attack that is over sooner is made again: it takes this long in any case, and no longer. */
const ATTACK_MS = 15_000;
const PREPARE_MS = 20_000;
const END_MS = 3000;
const MOST = 3;

interface Measured {
  quiet: Times;
  attacked: Times;
}

async function measure(prepare: Prepare): Promise<Measured> {
  const scene = await startScene();
  try {
    const hostile = await within(PREPARE_MS, prepare(scene));
    const probe = createProbe(scene);
    // What only the first calls pay for is no part of the quiet value.
    await probe(500);
    const quiet = await probe(QUIET_MS);
    const over = AbortSignal.timeout(ATTACK_MS);
    const attacking = again(hostile.attack, over);
    const attacked = await probe(ATTACK_MS);
    await attacking;
    return { quiet, attacked };
  } finally {
    await stop(scene);
  }
}

async function again(attack: (signal: AbortSignal) => Promise<unknown>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await attack(signal);
    await delay(20);
  }
}

/** A process that stands still does not end when it is asked to. */
async function stop(scene: Scene): Promise<void> {
  scene.program.kill('SIGTERM');
  await Promise.race([scene.program.exit, delay(END_MS)]);
  scene.program.kill('SIGKILL');
  await scene.stop();
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const late = delay(ms, undefined, { ref: false }).then(() => {
    throw new Error(`not prepared after ${ms / 1000} s`);
  });
  return Promise.race([work, late]);
}

const FIGURES = ['health median', 'health p99', 'chat median', 'chat p99'] as const;
const worst = ({ quiet, attacked }: Measured): number =>
  Math.max(...FIGURES.map((figure) => attacked[figure] / quiet[figure]));

function rows(name: string, { quiet, attacked }: Measured): Row[] {
  const row = (when: string, times: Times): Row => ({ attack: name, when, ...times });
  return [row('quiet', quiet), row('attacked', attacked)];
}

const names = process.argv.slice(2).filter((name) => name in ATTACKS);
const chosen = names.length > 0 ? names : Object.keys(ATTACKS);
const server = await prepareTestServer();
process.env['TEST_DATABASE_URL'] = server.url;
try {
  const found = new Map<string, Measured>();
  for (const name of chosen) {
    found.set(name, await measure(ATTACKS[name]!));
    console.log(`  ${name}: at most ${worst(found.get(name)!).toFixed(1)} times quiet`);
  }
  printTable(
    'Milliseconds, health and another user’s chat',
    [...found].flatMap(([name, measured]) => rows(name, measured)),
  );
  const targets = [...found].map(([name, measured]): Target => ({
    figure: name,
    value: worst(measured),
    atMost: MOST,
  }));
  finish('containment', targets);
} finally {
  await server.stop();
}
