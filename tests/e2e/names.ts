import { signedInCaller, type Caller } from './content.ts';
import type { RunningPlatform } from './platform.ts';

/** Names as people give them: as long as they may be, from right to left, of pictures alone. */
const LONG = 'Release-calendar-of-everybody-'.repeat(7).slice(0, 200);
const ARABIC = 'مساعد الحجز للجولة الكبيرة ';
const PICTURES = '🎪🎭🎫👩‍👩‍👧‍👦';

/** Cut at a whole character: half of a picture is none. */
const cut = (text: string, most: number): string => {
  const whole = [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment);
  while (whole.join('').length > most) whole.pop();
  return whole.join('').trim();
};

/** Three of them, each at most so long. */
const namesOf = (most: number): [long: string, arabic: string, pictures: string] => [
  cut(LONG, most),
  cut(ARABIC.repeat(12), most),
  cut(PICTURES.repeat(3), most),
];

type Call = Caller['call'];

async function fillAgent(call: Call, agentId: string): Promise<void> {
  for (const [index, title] of namesOf(200).entries()) {
    await call('POST', `/api/agents/${agentId}/messages`, { message: title, topic: `topic-${index}` });
    await call('POST', '/api/memory', { agentId, key: title, memory: `${title} ${LONG}` });
    await call('POST', '/api/scheduled-tasks', { name: title, cronSchedule: '0 9 * * *', prompt: LONG, agentId });
  }
  await call('POST', '/api/chat', { agentId, message: LONG });
  const { sessions } = await call<{ sessions: { id: string }[] }>('GET', `/api/agents/${agentId}/sessions`);
  for (const [index, { id }] of sessions.slice(0, 3).entries())
    await call('PATCH', `/api/agents/${agentId}/sessions/${id}`, { title: namesOf(200)[index], pinned: index === 0 });
  await call('PUT', '/api/usage/caps', { scope: 'agent', agentId, period: 'month', limitUsd: 5 });
}

async function fillAccount(platform: RunningPlatform, call: Call): Promise<void> {
  for (const name of namesOf(64)) await call('POST', '/api/keys', { name });
  for (const name of namesOf(100)) await call('POST', '/api/knowledge', { name, description: LONG });
  await call('POST', '/api/webhooks', { url: `https://example.com/${LONG}`, events: ['run.finished'] });
  for (const [index, name] of namesOf(100).entries())
    await fetch(`${platform.url}/api/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name, email: `${'a'.repeat(50)}${index}@example.org`, password: 'correct horse battery' }),
    });
  const yaml_config = `agents:\n  root:\n    model: sandbox/echo\n    description: ${LONG}\n    instruction: ${LONG}\n`;
  await call('POST', '/api/provision/team', { plan: 'network', yaml_config, name: namesOf(64)[1] });
}

/** Gives the agent, two others, and all that belongs to them or their owner such names. */
export async function makeNames(platform: RunningPlatform, agentId: string): Promise<void> {
  const { call } = await signedInCaller(platform, platform.owner);
  const { agents } = await call<{ agents: { id: string }[] }>('GET', '/api/agents');
  const others = agents.map(({ id }) => id).filter((id) => id !== agentId);
  const tags = [...namesOf(32).map((tag) => tag.replaceAll(',', '')), 'pinned'];
  for (const [index, name] of namesOf(64).entries()) {
    const id = [agentId, ...others][index]!;
    await call('PATCH', `/api/agents/${id}`, { name });
    await call('PUT', `/api/agents/${id}/tags`, { tags });
  }
  await fillAgent(call, agentId);
  await fillAccount(platform, call);
}
