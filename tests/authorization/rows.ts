import type { Database, Tables } from '@troupe/db';
import { newId, sha256Hex } from '@troupe/kernel';
import type { Insertable } from 'kysely';
import { addDeals } from './deal-rows.ts';
import { addFiles } from './file-rows.ts';
import { addManaged, managedIds, type ManagedIds } from './managed-rows.ts';
import { addSplit } from './split-rows.ts';
import { addPushed, addTold } from './told-rows.ts';
import type { Marks } from './marks.ts';

/** Rows of the owner that no request makes in a moment: money on the way, things that wait, what happened long ago. */

export interface RowIds extends ManagedIds {
  approvalId: string;
  bookingId: string;
  conversationId: string;
  eventId: string;
  factorId: string;
  grantId: string;
  noticeId: string;
  paymentId: string;
  pendingDeviceId: string;
  runId: string;
  pushId: string;
  splitId: string;
}

interface Subject {
  userId: string;
  agentId: string;
  address: string;
  /** Somebody for the rows that need two sides. */
  otherId: string;
}

export async function addRows(db: Database, { userId, agentId, address, otherId }: Subject, marks: Marks) {
  const { mark, secret } = marks;
  const user_id = userId;
  const agent_id = agentId;
  const now = new Date();
  const later = new Date(now.getTime() + 86_400_000);
  const today = now.toISOString().slice(0, 10);
  const of = { user_id, agent_id };
  const add = <T extends keyof Tables>(table: T, values: Insertable<Tables[T]>) =>
    db.system
      .insertInto(table)
      .values(values as never)
      .execute();
  const ids: RowIds = {
    approvalId: newId(),
    bookingId: newId(),
    conversationId: newId(),
    eventId: '',
    factorId: newId(),
    grantId: newId(),
    noticeId: '',
    paymentId: newId(),
    pendingDeviceId: newId(),
    runId: newId(),
    pushId: newId(),
    ...managedIds(),
    splitId: newId(),
  };

  await add('account_links', {
    id: newId(),
    user_id,
    provider: 'idp1',
    subject: mark('subject'),
    tokens: Buffer.from(mark('providerTokens')),
    created_at: now,
    updated_at: now,
  });
  await add('access_requests', {
    user_id,
    note: mark('accessNote'),
    asked_at: now,
    state: 'refused',
    answer: mark('accessAnswer'),
    decided_at: now,
  });
  const given = { user_id, grant_id: ids.grantId, scopes: ['agents:read'], expires_at: later };
  await add('client_grants', {
    id: ids.grantId,
    user_id,
    client_id: mark('client'),
    client_name: mark('clientName'),
    audience: 'platform',
    scopes: ['agents:read'],
    created_at: now,
  });
  await add('client_codes', {
    ...given,
    hash: sha256Hex(secret('clientCode')),
    client_id: 'c',
    redirect_uri: 'https://app.example/cb',
    challenge: 'x',
    refreshes: false,
  });
  await add('client_tokens', { ...given, hash: sha256Hex(secret('clientToken')), kind: 'access', created_at: now });
  await add('mcp_credentials', { ...of, server: 'mine', sealed: Buffer.from(mark('mcpTokens')), updated_at: now });
  await add('agent_logins', {
    ...of,
    name: 'mine',
    origin: 'https://shop.example',
    sealed: Buffer.from(mark('login')),
    updated_at: now,
  });
  await add('conversation_shares', {
    id: newId(),
    user_id,
    agent_id: agentId,
    session_id: newId(),
    token_hash: mark('shareHash'),
    title: mark('shareTitle'),
    agent_name: mark('shareAgent'),
    messages: JSON.stringify([{ role: 'user', text: mark('shareText'), at: now }]),
    created_at: now,
  });
  await addFiles(add, of, mark);
  await addManaged(add, of, ids, mark);
  await addTold(add, of, ids.pushId, mark);
  await add('audit_log', {
    user_id,
    action: 'test',
    detail: { note: mark('audit') },
    ip: mark('auditIp'),
    created_at: now,
  });
  await add('billing_customers', { user_id, customer_id: mark('customer'), created_at: now });
  await add('billing_subscriptions', {
    id: mark('subscription'),
    user_id,
    plan: 'network',
    status: 'active',
    event_at: now,
  });
  await add('password_resets', { user_id, token_hash: sha256Hex(secret('reset')), expires_at: later });
  await add('email_verifications', {
    user_id,
    email: `${mark('newAddress')}@example.org`,
    token_hash: sha256Hex(secret('verification')),
    expires_at: later,
  });
  await add('second_factors', {
    id: ids.factorId,
    user_id,
    kind: 'passkey',
    name: mark('factor'),
    credential_id: mark('credential'),
    public_key: Buffer.from(mark('publicKey')),
    created_at: now,
  });
  await add('recovery_codes', { user_id, code_hash: sha256Hex(secret('recoveryCode')), created_at: now });
  await add('sign_in_steps', {
    token_hash: sha256Hex(secret('signInStep')),
    user_id,
    method: 'password',
    expires_at: later,
  });
  await add('passkey_challenges', {
    challenge: secret('passkeyChallenge'),
    purpose: 'confirm',
    user_id,
    bound_to: mark('bound'),
    expires_at: later,
  });
  await add('referrals', { user_id, giver_id: otherId, created_at: now });

  await addConversation();
  await add('agent_logs', { ...of, level: 'info', message: mark('log'), source: 'test' });
  await add('agent_days', { ...of, day: today, tokens: 4711n });
  await add('agent_channels', { ...of, channel: 'test', state: { note: mark('channel') } });
  const letter = { channel: 'test', id: mark('messageId'), chat: mark('chat'), sender: mark('sender') };
  await add('agent_channel_messages', { ...of, ...letter, content: { text: mark('letter') }, state: 'waiting' });
  await add('agent_todos', { ...of, scope: `agent:${agentId}`, number: 1, description: mark('todo') });
  await add('agent_doors', {
    ...of,
    contacts: [mark('contact')],
    messages_per_day: 10,
    messages_per_sender: 5,
    updated_at: now,
  });
  await add('agent_door_days', { ...of, day: today, sender: mark('sender'), messages: 3 });
  await addTasks();
  await addUsage();
  await addMoney();
  await addUnderground();
  return ids;

  async function addConversation(): Promise<void> {
    const session = { ...of, session_id: ids.conversationId };
    await add('agent_sessions', {
      ...of,
      id: ids.conversationId,
      key: mark('topic'),
      channel: 'test',
      last_seq: 3,
      status: 'waiting',
    });
    await add('agent_followers', { user_id, session_id: ids.conversationId, follower: mark('process'), until: later });
    await addPushed(add, session, mark);
    const task = { run_seq: 1, member_id: mark('member'), member: mark('memberName'), depth: 1, limits: {} };
    const over = { task: mark('task'), status: 'done', result: mark('result'), settled: true, ended_at: now } as const;
    await add('agent_background', { ...session, ...task, ...over, id: `task-${ids.conversationId}` });
    const call = { callId: 'call-1', tool: 'write_file', args: JSON.stringify({ path: mark('argument') }) };
    const spent = { turns: 1, tokens: 1, costMicros: 1, ms: 1 };
    await add('agent_events', { ...session, seq: 1, data: { type: 'user', content: mark('said') } });
    await add('agent_events', {
      ...session,
      seq: 2,
      data: {
        type: 'assistant',
        content: mark('answered'),
        toolCalls: [call],
        model: 'm',
        spent,
        saw: 1,
      },
    });
    await add('agent_events', {
      ...session,
      seq: 3,
      data: {
        type: 'approval_requested',
        approvalId: ids.approvalId,
        ...call,
      },
    });
    const device = { ...of, ip: mark('deviceIp'), first_seen: now, last_seen: now };
    await add('devices', {
      ...device,
      id: ids.pendingDeviceId,
      name: mark('waitingDevice'),
      status: 'pending',
      secret_hash: sha256Hex(secret('waitingDevice')),
    });
    await add('devices', {
      ...device,
      id: newId(),
      name: mark('device'),
      status: 'approved',
      secret_hash: sha256Hex(secret('deviceSecret')),
      token_hash: sha256Hex(secret('deviceToken')),
    });
    const notice = await db.system
      .insertInto('notices')
      .values({ user_id, kind: 'test', subject: mark('noticeSubject'), message: mark('notice'), created_at: now })
      .returning('id')
      .executeTakeFirstOrThrow();
    ids.noticeId = String(notice.id);
    await add('inbox_marks', {
      user_id,
      item: ids.approvalId,
      state: 'done',
      words: mark('inboxWords'),
      marked_at: now,
    });
    await add('installations', { user_id, mode: 'home', registered_at: now, last_seen: now });
  }

  async function addTasks(): Promise<void> {
    const task = await db.system
      .selectFrom('scheduled_tasks')
      .select('id')
      .where('user_id', '=', userId)
      .where('id', '<>', ids.deploymentId)
      .executeTakeFirstOrThrow();
    await add('task_runs', {
      id: ids.runId,
      task_id: task.id,
      user_id,
      due_at: now,
      status: 'succeeded',
      started_at: now,
      finished_at: now,
      output: mark('taskOutput'),
      input: mark('taskInput'),
    });
    const delivered = { task_id: task.id, trigger_id: '', id: mark('delivery'), run_id: ids.runId };
    await add('task_deliveries', { ...delivered, user_id, at: now });
  }

  async function addUsage(): Promise<void> {
    const used = { ...of, model: mark('model'), provider: mark('provider'), input_tokens: 4711n, output_tokens: 4712n };
    await add('usage_logs', {
      ...used,
      cost_micros: 4713n,
      latency_ms: 1,
      success: true,
      estimated: false,
      created_at: now,
    });
    await add('usage_daily', { ...used, day: today, cost_micros: 4713n, latency_ms: 1n, calls: 1n, failures: 0n });
    await add('spend_counters', { user_id, scope: 'agent', scope_id: agentId, since: now, used: 1n, reserved: 0n });
    await add('spend_reservations', {
      id: newId(),
      user_id,
      micros: 1n,
      tokens: 1n,
      counters: '[]',
      expires_at: later,
    });
  }

  async function addMoney(): Promise<void> {
    await add('agent_payments', {
      ...of,
      id: ids.paymentId,
      units: 4714000n,
      currency: 'USD',
      recipient: mark('recipient'),
      method: 'GET',
      endpoint: mark('endpoint'),
      status: 'approval',
      created_at: now,
      updated_at: now,
    });
    await add('card_payments', {
      id: newId(),
      user_id,
      plugin: mark('plugin'),
      units: 1n,
      parts: '[]',
      status: 'paid',
      created_at: now,
      updated_at: now,
    });
    await add('colony_members', { ...of, wallet_address: address, joined_at: now });
    await add('top_ups', {
      checkout_id: mark('checkout'),
      address: address.toLowerCase(),
      amount_cents: 500,
      currency: 'usd',
      created_at: now,
    });
    await add('payouts', {
      id: mark('payout'),
      address,
      units: 1n,
      status: 'credited',
      created_at: now,
      updated_at: now,
    });
    await addSplit(add, of, ids.splitId, mark);
  }

  async function addUnderground(): Promise<void> {
    const event = await db.system
      .insertInto('underground_events')
      .values({
        ...of,
        name: mark('event'),
        description: mark('eventText'),
        venue: mark('venue'),
        event_date: later,
        ticket_price_usdc: '1.00',
        payee: address,
        total_tickets: 10,
        created_at: now,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    ids.eventId = String(event.id);
    await add('underground_tickets', {
      ...of,
      id: newId(),
      event_id: event.id,
      quantity: 1,
      units: 1n,
      created_at: now,
    });
    const sides = { from_agent_id: agentId, from_user_id: userId, to_agent_id: newId(), to_user_id: null };
    await addDeals(add, sides, ids.bookingId, mark);
    await add('bus_messages', {
      ...sides,
      id: newId(),
      message_id: newId(),
      action: 'NOTE',
      message: JSON.stringify({ payload: mark('bus') }),
      status: 'failed',
      created_at: now,
    });
    await add('bus_days', { user_id, day: today, messages: 1 });
  }
}
