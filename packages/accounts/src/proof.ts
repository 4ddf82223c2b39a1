import { stopAgentsJob } from '@troupe/contract';
import type { Jobs, SystemTx } from '@troupe/db';
import type { Clock } from '@troupe/kernel';
import { sql } from 'kysely';
import type { Audit } from './audit.ts';
import type { Credits } from './credits.ts';
import type { SecondFactors } from './second-factors.ts';
import type { Sessions } from './sessions.ts';
import type { Verification } from './verification.ts';

/** Somebody has just shown that an address is theirs. */
interface Proof {
  userId: string;
  by: 'mail link' | 'password reset' | 'idp1' | 'idp2';
  /** The password from now on; left out: none. */
  passwordHash?: string | undefined;
  /** The session in which they showed it. Its owner is the one who has used the account: everything stays. */
  sessionId?: string | null | undefined;
  ip?: string | undefined;
}

/**
 * An address is proven once, and from then on it is only its owner's: whoever took it before must not stay in it. True
 * when this was the first proof. Where addresses merely count as verified there is none.
 */
export type Prove = (tx: SystemTx, proof: Proof) => Promise<boolean>;

interface ProofDeps {
  clock: Clock;
  audit: Audit;
  credits: Credits;
  factors: SecondFactors;
  sessions: Sessions;
  verification: Verification;
  jobs: Pick<Jobs, 'send'> | undefined;
  halt: Halt;
}

/** What the owner reads beside an agent that somebody else may have set up. */
const MADE_BEFORE_PROOF =
  'Stopped: it was made before your e-mail address was proven. Look at its configuration before you start it.';

const ENDS = ['running', 'provisioning', 'pending'] as const;

/** Ends what acts by itself: agents, with a sentence for their owner, tasks, heartbeats, trials. Answers how many tasks. */
export type Halt = (tx: SystemTx, userId: string, failure: string) => Promise<number>;

export function createHalt({ clock, jobs }: Pick<ProofDeps, 'clock' | 'jobs'>): Halt {
  return async (tx, userId, failure) => {
    const at = clock();
    const stopped = await tx
      .updateTable('agents')
      .set({ status: 'stopped', started_at: null, failure, updated_at: at })
      .where('user_id', '=', userId)
      .where('status', 'in', ENDS)
      .returning('id')
      .execute();
    if (stopped.length > 0) {
      if (!jobs) throw new Error('agents are ended only where jobs can be sent');
      await jobs.send(tx, stopAgentsJob, { agentIds: stopped.map(({ id }) => id) });
    }
    await tx.updateTable('heartbeats').set({ enabled: false }).where('user_id', '=', userId).execute();
    await endEvaluations(tx, userId, at);
    const tasks = await tx
      .updateTable('scheduled_tasks')
      .set({ enabled: false, next_run: null, updated_at: at })
      .where('user_id', '=', userId)
      .where('enabled', '=', true)
      .returning('id')
      .execute();
    return tasks.length;
  };
}

/** Whoever tries a case looks whether its evaluation still runs. A change that all cases passed with is not made any more. */
async function endEvaluations(tx: SystemTx, userId: string, at: Date): Promise<void> {
  await tx
    .updateTable('evaluations')
    .set({ status: 'stopped', finished_at: at })
    .where('user_id', '=', userId)
    .where('status', '=', 'running')
    .execute();
  await tx
    .updateTable('evaluation_results')
    .set({ status: 'skipped', error: 'The evaluation was stopped', finished_at: at })
    .where('user_id', '=', userId)
    .where('status', '=', 'waiting')
    .execute();
  await tx
    .updateTable('evaluations')
    .set({ not_taken: 'The agent was stopped before the change was made' })
    .where('user_id', '=', userId)
    .where('status', '=', 'passed')
    .where('takes', '=', true)
    .where('taken_at', 'is', null)
    .where('not_taken', 'is', null)
    .execute();
}

/** Their tokens are made anew when they are needed; a program that holds an old one is ended by the job. */
async function endAgents({ clock, halt }: ProofDeps, tx: SystemTx, userId: string): Promise<Record<string, number>> {
  const agents = await tx
    .updateTable('agents')
    .set({ token_hash: null, token_sealed: null, provider_key: null, updated_at: clock() })
    .where('user_id', '=', userId)
    .returning('id')
    .execute();
  await tx.deleteFrom('agent_channels').where('user_id', '=', userId).execute();
  await cutOff(tx, userId);
  // What new agents begin with could call elsewhere, too.
  await tx.deleteFrom('agent_configs').where('user_id', '=', userId).execute();
  const tasks = await halt(tx, userId, MADE_BEFORE_PROOF);
  return { agents: agents.length, tasks };
}

export function createProve(deps: ProofDeps): Prove {
  const { clock, audit, credits, factors, sessions, verification } = deps;
  return async (tx, { userId, by, passwordHash, sessionId = null, ip }) => {
    if (!verification.required) return false;
    const first = await tx
      .updateTable('users')
      .set({ email_verified_at: clock() })
      .where('id', '=', userId)
      .where('email_verified_at', 'is', null)
      .returning('id')
      .executeTakeFirst();
    if (!first) return false;
    await credits.settle(tx, userId);
    // No other link that is under way may prove it again.
    await verification.forget(tx, userId);
    if (sessionId !== null && (await isSessionOf(tx, sessionId, userId))) {
      if (passwordHash !== undefined) await setPassword(tx, userId, passwordHash, clock());
      await audit(tx, { userId, action: 'email-verified', detail: { by }, ip });
      return true;
    }
    await setPassword(tx, userId, passwordHash ?? null, clock());
    await sessions.endAll(tx, userId);
    const ended = {
      factors: await factors.removeAll(tx, userId),
      ...(await endCredentials(tx, userId)),
      ...(await endAgents(deps, tx, userId)),
    };
    await audit(tx, { userId, action: 'email-verified', detail: { by }, ip });
    await audit(tx, {
      userId,
      action: 'credentials-removed',
      detail: { reason: `address proved by ${by}`, ...ended },
      ip,
    });
    return true;
  };
}

/**
 * What an agent passes on without being started: messages to it go to its webhook, its contacts pass its door, its widgets
 * stand on pages of others, and MCP servers hear whatever it does next. The instruction stays: it is words, and its owner is told to read them.
 */
async function cutOff(tx: SystemTx, userId: string): Promise<void> {
  await sql`insert into agent_definitions (agent_id, user_id, version, definition)
    select a.id, a.user_id, d.version + 1, (d.definition #- '{config,webhookUrl}') || '{"mcpServers": []}'
    from agents a cross join lateral (
      select version, definition from agent_definitions where agent_id = a.id order by version desc limit 1) d
    where a.user_id = ${userId}
      and (d.definition #> '{config,webhookUrl}' is not null or jsonb_array_length(d.definition -> 'mcpServers') > 0)`.execute(
    tx,
  );
  await sql`update agents set own_config = own_config - 'webhookUrl' where user_id = ${userId}`.execute(tx);
  await tx.updateTable('widgets').set({ enabled: false }).where('user_id', '=', userId).execute();
  await tx.deleteFrom('agent_doors').where('user_id', '=', userId).execute();
  await tx.deleteFrom('mcp_credentials').where('user_id', '=', userId).execute();
  await tx.deleteFrom('mcp_servers').where('user_id', '=', userId).execute();
  await tx.deleteFrom('agent_logins').where('user_id', '=', userId).execute();
}

async function isSessionOf(tx: SystemTx, sessionId: string, userId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('sessions')
    .select('id')
    .where('id', '=', sessionId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row !== undefined;
}

const setPassword = (tx: SystemTx, userId: string, hash: string | null, at: Date) =>
  tx
    .updateTable('users')
    .set({ password_hash: hash, password_given: false, updated_at: at })
    .where('id', '=', userId)
    .execute();

async function revokeDevices(tx: SystemTx, userId: string): Promise<number> {
  const devices = await tx
    .updateTable('devices')
    .set((eb) => ({
      status: eb
        .case()
        .when('status', '=', 'approved')
        .then('revoked' as const)
        .else('denied' as const)
        .end(),
      token_hash: null,
      token_sealed: null,
    }))
    .where('user_id', '=', userId)
    .where('status', 'in', ['pending', 'approved'])
    .returning('id')
    .execute();
  return devices.length;
}

/** Everything that opens the account or something of it, or lets others in. */
async function endCredentials(tx: SystemTx, userId: string): Promise<Record<string, number>> {
  const own = async (
    table:
      | 'api_keys'
      | 'account_links'
      | 'installations'
      | 'webhook_endpoints'
      | 'task_triggers'
      | 'client_grants'
      | 'push_subscriptions'
      | 'push_messages'
      | 'a2a_push_configs',
  ): Promise<number> => {
    const { numDeletedRows } = await tx.deleteFrom(table).where('user_id', '=', userId).executeTakeFirst();
    return Number(numDeletedRows);
  };
  const keys = await own('api_keys');
  const links = await own('account_links');
  const installations = await own('installations');
  const clients = await own('client_grants');
  const webhooks = await own('webhook_endpoints');
  const triggers = await own('task_triggers');
  // Each of these browsers and addresses would go on hearing what happens here.
  const browsers = await own('push_subscriptions');
  await own('push_messages');
  await own('a2a_push_configs');
  // What somebody else sent and has not run yet must not run for the one whose account it is now.
  await tx.deleteFrom('task_runs').where('user_id', '=', userId).where('status', '=', 'waiting').execute();
  const devices = await revokeDevices(tx, userId);
  await tx.deleteFrom('invites').where('user_id', '=', userId).where('used_at', 'is', null).execute();
  // Money that its new owner adds must not land where another's key can spend it.
  const wallets = await tx
    .deleteFrom('wallets')
    .where('user_id', '=', userId)
    .where('kind', '=', 'own')
    .returning('id')
    .execute();
  await tx.updateTable('users').set({ notifications: '{}' }).where('id', '=', userId).execute();
  return {
    keys,
    links,
    installations,
    webhooks,
    triggers,
    browsers,
    clients,
    devices,
    wallets: wallets.length,
  };
}
