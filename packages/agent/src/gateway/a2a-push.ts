import { webAddress } from '@troupe/domain';
import { newId } from '@troupe/kernel';
import { z } from 'zod';
import { answer, checked, refOf, RpcError, taskOf, type Call } from './a2a-tasks.ts';
import type { PushConfig, PushConfigs, PushedTask } from './types.ts';

/** Push notifications of the Agent2Agent protocol: who wants to be told of a task, and where. Credentials are never shown again. */

/** It goes into a header. */
const shown = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^[\x20-\x7e]*$/);
const id = z
  .string()
  .max(200)
  .regex(/^[\w:.-]*$/);
const config = z.object({
  id: id.nullish(),
  url: webAddress,
  token: shown(1000).nullish(),
  authentication: z
    .object({
      scheme: shown(50).optional(),
      schemes: z.array(shown(50)).max(10).optional(),
      credentials: shown(4000).nullish(),
    })
    .nullish(),
});
const task = z.string().max(200);
const setParams = {
  '1.0': config.extend({ taskId: task }).transform(({ taskId, ...given }) => ({ taskId, given })),
  '0.3': z
    .object({ taskId: task, pushNotificationConfig: config })
    .transform(({ taskId, pushNotificationConfig: given }) => ({ taskId, given })),
};
/** 0.3 names the task by `id`, and may leave out which. */
const oneParams = {
  '1.0': z.object({ taskId: task, id }).transform(({ taskId, id: which }) => ({ taskId, which })),
  '0.3': z
    .object({ id: task, pushNotificationConfigId: id.nullish() })
    .transform(({ id: taskId, pushNotificationConfigId: which }) => ({ taskId, which: which ?? undefined })),
};
const listParams = {
  '1.0': z.object({ taskId: task }),
  '0.3': z.object({ id: task }).transform(({ id: taskId }) => ({ taskId })),
};

function kept({ exchange }: Call): PushConfigs {
  const { push } = exchange.deps;
  if (!push) throw new RpcError(-32_003, 'Push notifications are not supported');
  return push;
}

const pushed = ({ exchange: { agent } }: Call, ref: { sessionId: string; seq: number }): PushedTask => ({
  userId: agent.owner,
  agentId: agent.id,
  sessionId: ref.sessionId,
  seq: ref.seq,
});

/** The task, if it is the caller's. */
async function own(call: Call, taskId: string): Promise<PushedTask> {
  return pushed(call, await taskOf(call.exchange, taskId));
}

function configOf({ version }: Call, given: z.output<typeof config>, taskId: string): PushConfig {
  const { url, token, authentication } = given;
  const scheme = authentication?.scheme ?? authentication?.schemes?.[0];
  return {
    id: given.id || (version === '0.3' ? taskId : newId()),
    url,
    ...(token && { token }),
    ...(scheme && { authentication: { scheme, credentials: authentication?.credentials ?? '' } }),
  };
}

function written({ version }: Call, taskId: string, { id: which, url, token, authentication }: PushConfig): object {
  const said = { id: which, url, ...(token && { token }) };
  const scheme = authentication?.scheme;
  if (version === '1.0') return { ...said, taskId, ...(scheme && { authentication: { scheme } }) };
  return { taskId, pushNotificationConfig: { ...said, ...(scheme && { authentication: { schemes: [scheme] } }) } };
}

/** The platform looks at how many there are while it holds the task: of many at once each would find room. */
const put = (call: Call, at: PushedTask, wanted: PushConfig): Promise<void> => kept(call).set(at, wanted, call.version);

/** What a message asks for: checked now, kept once its task is known. */
export function wanted(call: Call, given: unknown): ((taskId: string) => Promise<void>) | undefined {
  if (given === undefined || given === null) return undefined;
  const push = kept(call);
  const asked = checked(config, given);
  push.check(asked.url);
  return (taskId) => put(call, pushed(call, refOf(taskId)!), configOf(call, asked, taskId));
}

export async function set(call: Call): Promise<void> {
  const push = kept(call);
  const { taskId, given } = checked(setParams[call.version], call.params);
  const at = await own(call, taskId);
  push.check(given.url);
  const made = configOf(call, given, taskId);
  await put(call, at, made);
  answer(call, written(call, taskId, made));
}

export async function get(call: Call): Promise<void> {
  const push = kept(call);
  const { taskId, which } = checked(oneParams[call.version], call.params);
  const all = await push.list(await own(call, taskId));
  const found = which === undefined ? all[0] : all.find((one) => one.id === which);
  if (!found) throw new RpcError(-32_001, 'Push notification config not found');
  answer(call, written(call, taskId, found));
}

export async function list(call: Call): Promise<void> {
  const push = kept(call);
  const { taskId } = checked(listParams[call.version], call.params);
  const configs = (await push.list(await own(call, taskId))).map((one) => written(call, taskId, one));
  answer(call, call.version === '1.0' ? { configs, nextPageToken: '' } : configs);
}

export async function remove(call: Call): Promise<void> {
  const push = kept(call);
  const { taskId, which } = checked(oneParams[call.version], call.params);
  if (which === undefined) throw new RpcError(-32_602, 'Invalid parameters: pushNotificationConfigId');
  await push.remove(await own(call, taskId), which);
  answer(call, call.version === '1.0' ? {} : null);
}
