import { cardEnv, cardSignature, startCardProcessor } from '@troupe/testing/money/card-processor';
import { signedInCaller, type Caller } from '../../../tests/e2e/content.ts';
import { startPlatform, type RunningPlatform } from '../../../tests/e2e/platform.ts';
import { writeHistory } from './history.ts';
import { modelEnv, startModel } from './model.ts';

/** A platform as a small record label would have it after a month, with a model that answers from a script. */
export interface Showcase {
  platform: RunningPlatform;
  agentId: string;
  stop: () => Promise<void>;
}

const PEOPLE: [string, string][] = [
  ['Ines Varga', 'ines@nightjar.example'],
  ['Jonas Petri', 'jonas@nightjar.example'],
  ['Amara Osei', 'amara@nightjar.example'],
];

/** At most five may be made in a minute, the team included. Name, model, its rates, instruction, calls on an ordinary day. */
const AGENTS: [string, string, number, number, string, number][] = [
  ['Release desk', 'xiaomi/mimo-v2-pro', 0.2, 0.6, 'You look after the release calendar of a small record label.', 64],
  [
    'Booking',
    'openai/gpt-4o-mini',
    0.15,
    0.6,
    'You answer booking requests within the limits that you were given.',
    82,
  ],
  ['Royalties', 'anthropic/claude-sonnet-4.5', 3, 15, 'You read statements and prepare splits.', 11],
  ['Press', 'openai/gpt-4o', 5, 15, 'You write press texts and keep the list of contacts.', 9],
];

export async function startShowcase(): Promise<Showcase> {
  const [model, cards] = await Promise.all([startModel(), startCardProcessor()]);
  const close = async () => {
    cards.close();
    await model.close();
  };
  try {
    const platform = await startPlatform({ ...modelEnv(model), ...cardEnv(cards.address) });
    const stop = async () => {
      await platform.stop();
      await close();
    };
    try {
      return { platform, agentId: await fill(platform), stop };
    } catch (error) {
      await stop();
      throw error;
    }
  } catch (error) {
    await close();
    throw error;
  }
}

const OWN_PASSWORD = 'correct horse of the label';

async function fill(platform: RunningPlatform): Promise<string> {
  const { call } = await signedInCaller(platform, platform.owner);
  const { password: currentPassword } = platform.owner;
  await call('POST', '/api/settings/password', { currentPassword, newPassword: OWN_PASSWORD });
  platform.owner.password = OWN_PASSWORD;
  const { id: userId } = await call<{ id: string }>('PATCH', '/api/settings', { name: 'Mara' });
  for (const [name, email] of PEOPLE) {
    await post(`${platform.url}/api/register`, { name, email, password: 'correct horse battery' });
  }
  const agents: { id: string }[] = [];
  for (const [name, model, , , instruction] of AGENTS) {
    const config = { instruction, tools: ['filesystem', 'shell', 'think', 'todo', 'memory', 'fetch'] };
    const { agent } = await call<{ agent: { id: string } }>('POST', '/api/agents/provision', { name, model, config });
    agents.push(agent);
  }
  const [desk, booking, royalties] = agents.map(({ id }) => id) as [string, string, string];
  await fillWork(call, desk, booking);
  const tasks = await fillTasks(call, desk, booking, royalties);
  const workers = AGENTS.map(([, model, inputRate, outputRate, , calls], index) => ({
    id: agents[index]!.id,
    model,
    calls,
    inputRate,
    outputRate,
  }));
  await writeHistory(platform.dataDir, userId, workers, tasks);
  await fillOperations(platform, call, desk, booking);
  await fillMoney(platform, call, desk, booking, royalties);
  return desk;
}

type Call = Caller['call'];

async function fillWork(call: Call, desk: string, booking: string): Promise<void> {
  const memories: [string, string][] = [
    [
      'Glass Harbour',
      'EP by The Pale Hours, five songs. Master promised for Monday 16 November by Jonas at Studio Nord.',
    ],
    ['Release day', 'Singles on Tuesdays, everything longer on Fridays.'],
    ['Support act', 'Okta opened for The Pale Hours in Ghent and Cologne; both asked again.'],
    ['Budget', 'Press work for one release stays under 300 USD unless Mara says otherwise.'],
    ['Tone', 'Short sentences, no superlatives, no exclamation marks.'],
  ];
  for (const [key, memory] of memories) await call('POST', '/api/memory', { agentId: desk, key, memory });
  const say = (agentId: string, message: string) => call('POST', '/api/chat', { agentId, message });
  await say(desk, 'Here is the plan for November: Low Tide on the 17th, Glass Harbour and Night Bus on the 20th.');
  await say(desk, 'What goes out this week, and is anything missing?');
  await say(desk, 'Yes. Write the note to the studio.');
  await say(booking, 'Who played with The Pale Hours in spring?');
  await call('POST', '/api/provision/team', { plan: 'network', templateKey: 'content_team' });
  const { teams } = await call<{ teams: { agents: { agentId: string; name: string }[] }[] }>('GET', '/api/teams');
  const lead = teams[0]?.agents.find(({ name }) => name === 'manager')?.agentId;
  if (lead) await say(lead, 'I need a press line for Glass Harbour.');
}

async function fillTasks(call: Call, desk: string, booking: string, royalties: string): Promise<string[]> {
  const tasks: [string, string, string, string, string][] = [
    ['Morning report', '0 8 * * *', 'Write the morning report.', desk, 'Europe/Berlin'],
    ['Answer offers', '*/30 9-18 * * 1-5', 'Answer new offers within the limits.', booking, 'Europe/Berlin'],
    ['Statements', '0 7 1 * *', 'Read the new statements and prepare the splits.', royalties, 'UTC'],
  ];
  const made: string[] = [];
  for (const [name, cronSchedule, prompt, agentId, timezone] of tasks) {
    const task = await call<{ id: string }>('POST', '/api/scheduled-tasks', {
      name,
      cronSchedule,
      prompt,
      agentId,
      timezone,
    });
    made.push(task.id);
  }
  return made;
}

async function fillOperations(platform: RunningPlatform, call: Call, desk: string, booking: string): Promise<void> {
  const { token } = await call<{ token: string }>('GET', `/api/agents/${desk}/token`);
  const devices: string[] = [];
  for (const name of ['Mara’s laptop', 'Merch desk tablet', 'Pocket phone']) {
    const { deviceId } = await post<{ deviceId: string }>(
      `${platform.url}/api/devices/pair`,
      { name },
      { authorization: `Bearer ${token}` },
    );
    devices.push(deviceId);
  }
  await call('POST', '/api/devices', { action: 'approve', deviceId: devices[0] });
  await call('POST', '/api/devices', { action: 'approve', deviceId: devices[1] });
  const { config } = await call<{ config: Record<string, object> }>('GET', '/api/config');
  await call('POST', '/api/config', { config: { ...config, memory: { maxEntries: 1000, ttlDays: 180 } } });
  await call('POST', '/api/config', {
    config: {
      ...config,
      memory: { maxEntries: 2000, ttlDays: 180 },
      safety: { maxTokensPerDay: 2_000_000, allowedDomains: ['musicbrainz.org'] },
    },
  });
  await call('POST', '/api/heartbeat', { agentId: desk, frequency: '3h', enabled: true });
  await call('POST', '/api/heartbeat', { agentId: booking, frequency: '30m', enabled: true });
  const { key } = await call<{ key: string }>('POST', '/api/keys', { name: 'Release script' });
  await call('POST', '/api/keys', { name: 'Webshop' });
  await fetch(`${platform.url}/api/settings`, { headers: { authorization: `Bearer ${key}` } });
  await call('POST', '/api/admin/invites', { email: 'guest@nightjar.example' });
  await call('PUT', '/api/usage/caps', { scope: 'user', period: 'month', limitUsd: 40 });
  await call('PUT', '/api/usage/caps', { scope: 'agent', period: 'day', limitUsd: 3 });
}

async function fillMoney(
  platform: RunningPlatform,
  call: Call,
  desk: string,
  booking: string,
  royalties: string,
): Promise<void> {
  await call('POST', '/api/wallet', { action: 'create' });
  const { address } = await call<{ address: string }>('GET', '/api/wallet/address');
  await topUp(platform, address, 5000);
  await topUp(platform, address, 2500);
  await call('POST', '/api/wallet/sessions', { address, deposit: '20' });
  const wallets: string[] = [];
  for (const agentId of [desk, booking, royalties]) {
    const wallet = await call<{ address: string }>('POST', '/api/underground/wallets', { agentId });
    wallets.push(wallet.address);
    await topUp(platform, wallet.address, 5000);
  }
  await call('PUT', `/api/agents/${booking}/payment-policy`, { perPayment: '20', perDay: '50', approvalAbove: '10' });
  const pay = (amount: number) =>
    call('POST', '/api/paygate', { action: 'pay', agentId: booking, amount, recipient: wallets[0] });
  await pay(4.5);
  await pay(12);
  await talk(call, desk, booking);
  await call('POST', '/api/underground/events', {
    agentId: booking,
    name: 'Boathouse session',
    description: 'The Pale Hours play Glass Harbour from start to end, unplugged.',
    venue: 'The Boathouse, Ghent',
    eventDate: new Date(Date.now() + 19 * 86_400_000).toISOString(),
    ticketPriceUsdc: '8.50',
    totalTickets: 120,
  });
  const [event] = await call<{ id: number }[]>('GET', '/api/underground/events');
  await call('POST', `/api/underground/events/${event!.id}/tickets`, { agentId: desk, quantity: 4 });
  await call('POST', '/api/underground/splits', {
    agentId: royalties,
    name: 'Low Tide, October',
    totalAmount: '36.40',
    recipients: [
      { address: wallets[0], share: 60 },
      { address: wallets[1], share: 25 },
      { address: wallets[2], share: 15 },
    ],
  });
}

/** A booking that two agents agree on, and a request to spread the word. */
async function talk(call: Call, from: string, to: string): Promise<void> {
  const send = async (sender: string, receiver: string, action: string, payload: object) => {
    const { message } = await call<{ message: object }>('POST', '/api/underground/bus/sign', {
      message: {
        version: '1.0',
        messageId: crypto.randomUUID(),
        timestamp: new Date().toISOString(),
        from: { agentId: sender },
        to: { agentId: receiver },
        action,
        payload,
      },
    });
    await call('POST', '/api/underground/bus/send', message);
  };
  await send(from, to, 'BOOKING_OFFER', { talentName: 'The Pale Hours', amount: '450' });
  const { bookings } = await call<{ bookings: { id: string }[] }>('GET', '/api/underground/bookings');
  await send(to, from, 'BOOKING_COUNTER', { bookingId: bookings[0]!.id, amount: '520' });
  await send(from, to, 'BOOKING_ACCEPT', { bookingId: bookings[0]!.id });
  await send(from, to, 'BOOKING_OFFER', { talentName: 'Okta', amount: '280' });
  await send(to, from, 'AMPLIFY_REQUEST', { content: 'Boathouse session, 4 December, Ghent', reward: '5' });
}

async function topUp({ url }: RunningPlatform, address: string, cents: number): Promise<void> {
  const opened = await fetch(`${url}/api/wallet/top-up?amount=${cents}&address=${address}`);
  const { sessionId } = (await opened.json()) as { sessionId: string };
  const payload = JSON.stringify({
    id: `evt_${sessionId}`,
    object: 'event',
    type: 'checkout.session.completed',
    created: Math.floor(Date.now() / 1000),
    data: {
      object: {
        id: sessionId,
        object: 'checkout.session',
        payment_status: 'paid',
        amount_total: cents,
        currency: 'usd',
        metadata: { type: 'wallet_top_up', walletAddress: address, amountCents: String(cents) },
      },
    },
  });
  await post(`${url}/api/wallet/top-up`, payload, { 'billing-signature': cardSignature(payload) });
}

async function post<T>(url: string, body: object | string, headers: Record<string, string> = {}): Promise<T> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`POST ${url}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}
