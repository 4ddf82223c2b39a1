import type { TypesOf, backend } from '@troupe/contract';
import type { Database } from '@troupe/db';
import { agentLimit, isPlan, paidPlan, type Plan, planRank, readPlanName } from '@troupe/domain';
import type { Fleet } from '@troupe/fleet';
import { AppError, iso, isoOrNull, newId, type Clock } from '@troupe/kernel';
import {
  LimitReached,
  readPurpose,
  type AgentChange,
  type AgentRow,
  type NewAgent,
  type Page,
  type Roster,
} from '@troupe/roster';
import { visibleTo } from '../../context.ts';
import { addOwner } from './store.ts';

export interface AgentServiceDeps {
  db: Database;
  roster: Roster;
  fleet: Fleet;
  clock: Clock;
  agentsDomain: string;
  /** Whose version an agent without one of its own has. */
  version: string;
  defaultModel: string;
  /** Refuses a change that the agent's cases have not passed with. */
  gate: { check: (agent: AgentRow, change: AgentChange) => Promise<void> };
}

/** For whom something is made; `elevated`: the limits of plans do not hold. */
export interface Caller {
  userId: string | undefined;
  elevated: boolean;
  /** The owner's own plan, as web tells it. */
  plan?: unknown;
}

const status = (row: AgentRow) => row.status;

export type AgentService = ReturnType<typeof createAgentService>;

/** Owns agents that are made with the internal key alone. */
const INSTALLATION = 'installation';

type Verify = TypesOf<typeof backend.agents.verify>['body'];
type Update = TypesOf<typeof backend.agents.update>['body'];

/** Rows of new agents, within the plan. */
function createAdding({ db, roster, clock }: AgentServiceDeps) {
  let installed: Promise<string> | undefined;
  async function ownerOf(userId: string | undefined): Promise<string> {
    if (userId !== undefined) return userId;
    installed ??= install();
    return installed.catch((error: unknown) => {
      installed = undefined;
      throw error;
    });
  }

  async function install(): Promise<string> {
    await addOwner(db.system, INSTALLATION, clock());
    return INSTALLATION;
  }

  function planOf(name: string): { plan: Plan | 'free'; size?: string } {
    const read = readPlanName(name);
    if (!read) throw new AppError(400, 'Invalid plan');
    return read;
  }

  /** Makes the rows, within the plan's limit. */
  async function add(
    { userId: owner, elevated, plan: owned }: Caller,
    agents: readonly Omit<NewAgent, 'userId'>[],
  ): Promise<AgentRow[]> {
    const userId = await ownerOf(owner);
    // A team may have several: the highest says how many agents there may be.
    const plans = agents.map((agent) => agent.plan).filter(isPlan);
    const asked = plans.toSorted((a, b) => planRank(b) - planRank(a))[0] ?? agents[0]!.plan;
    const plan = isPlan(asked) ? paidPlan(asked, owned) : asked;
    const limit = owner === undefined || elevated || !isPlan(plan) ? Infinity : agentLimit(plan);
    try {
      return await roster.of(userId).add(
        agents.map((agent) => ({ ...agent, userId })),
        limit,
      );
    } catch (error) {
      if (!(error instanceof LimitReached)) throw error;
      const { current } = error;
      throw new AppError(402, `Agent limit reached for ${plan} plan`, { code: 'AGENT_LIMIT_REACHED', current, limit });
    }
  }

  return { planOf, add };
}

/** What others vouch for. */
function createVerification({ roster }: AgentServiceDeps) {
  const verificationOf = (row: AgentRow) => ({
    verified: row.verified_at !== null,
    verificationType: row.verification_type,
    attestationUid: row.attestation_uid,
    verifierAddress: row.verifier_address,
    verifiedAt: isoOrNull(row.verified_at),
    metadata: row.verification_metadata ?? null,
  });

  async function changeVerification(id: string, userId: string | undefined, values: Partial<AgentRow>) {
    await visibleTo(roster, userId).get(id);
    return { success: true as const, agentId: id, ...verificationOf(await roster.system.change(id, values)) };
  }

  return { verificationOf, changeVerification };
}

function verifying(
  { roster, clock }: AgentServiceDeps,
  { verificationOf, changeVerification }: ReturnType<typeof createVerification>,
) {
  return {
    verification: async (id: string, userId: string | undefined) =>
      verificationOf(await visibleTo(roster, userId).get(id)),
    verify: (id: string, userId: string | undefined, given: Verify) =>
      given.verified
        ? changeVerification(id, userId, {
            verification_type: given.verificationType,
            attestation_uid: given.attestationUid ?? null,
            verifier_address: given.verifierAddress ?? null,
            verification_metadata: given.metadata ?? null,
            verified_at: clock(),
          })
        : changeVerification(id, userId, NOT_VERIFIED),
    unverify: (id: string, userId: string | undefined) => changeVerification(id, userId, NOT_VERIFIED),
  };
}

/** What is changed of agents. */
function changing(
  { roster, fleet, gate }: AgentServiceDeps,
  place: (id: string) => { subdomain: string; url: string },
  planOf: ReturnType<typeof createAdding>['planOf'],
) {
  return {
    async update(id: string, userId: string | undefined, given: Update) {
      let row = await visibleTo(roster, userId).get(id);
      const purpose = readPurpose(given.purpose);
      const { config, skill, collection, rule } = given;
      if ((config ?? given.purpose ?? skill ?? collection ?? rule) !== undefined && !given.force)
        await gate.check(row, { config, purpose, skill, collection, rule });
      const { plan, size = null } = given.plan === undefined ? row : planOf(given.plan);
      const values: Partial<AgentRow> = {
        plan,
        size,
        ...(given.aiProvider !== undefined && { ai_provider: given.aiProvider }),
        // A key is for the provider it was given with and goes to no other.
        ...(given.aiProvider !== undefined && given.aiProvider !== row.ai_provider && { provider_key: null }),
        ...(given.name !== undefined && { name: given.name }),
        ...(given.tags && { tags: given.tags }),
      };
      row = await roster.system.change(id, values);
      if (given.plan !== undefined || given.aiProvider !== undefined) await fleet.rethink(id);
      if (given.config !== undefined || given.name !== undefined || given.purpose !== undefined) {
        const configured = await roster.system.configure(row, given.config ?? {}, purpose);
        row = configured.agent;
        if (row.status === 'running') await fleet.driver.configure(row, configured.definition);
      }
      for (const change of [
        skill && ((agent: AgentRow) => roster.system.changeSkill(agent, skill)),
        collection && ((agent: AgentRow) => roster.system.changeCollection(agent, collection)),
        rule && ((agent: AgentRow) => roster.system.addRule(agent, rule)),
      ]) {
        if (!change) continue;
        row = (await change(row)).agent;
        // The newest, with what others have changed meanwhile.
        if (row.status === 'running') await fleet.driver.configure(row, await roster.system.definition(row));
      }
      return {
        id,
        plan: row.plan,
        aiProvider: row.ai_provider,
        subdomain: place(id).subdomain,
        status: status(row),
        message: 'Agent updated',
      };
    },

    async remove(id: string, userId: string | undefined) {
      const row = await visibleTo(roster, userId).find(id);
      if (row)
        await fleet.remove(row).catch((error: unknown) => {
          // Somebody else was faster.
          if (!(error instanceof AppError && error.status === 404)) throw error;
        });
      return { id, deleted: true as const };
    },
  };
}

function reading(
  { roster, version }: AgentServiceDeps,
  place: (id: string) => { subdomain: string; url: string },
  { verificationOf }: ReturnType<typeof createVerification>,
) {
  return {
    async read(id: string, userId: string | undefined) {
      const row = await visibleTo(roster, userId).get(id);
      const { verified, verificationType, attestationUid, verifiedAt } = verificationOf(row);
      return {
        id,
        status: status(row),
        startedAt: isoOrNull(row.started_at),
        plan: row.plan,
        ...place(id),
        runtimeVersion: row.runtime_version ?? version,
        verified,
        verificationType,
        attestationUid,
        verifiedAt,
      };
    },
  };
}

export function createAgentService(deps: AgentServiceDeps) {
  const { roster, agentsDomain, defaultModel } = deps;

  const place = (id: string) => {
    const subdomain = `${id}.${agentsDomain}`;
    return { subdomain, url: `https://${subdomain}` };
  };

  const { planOf, add } = createAdding(deps);
  const vouched = createVerification(deps);

  return {
    place,
    planOf,
    add,
    get: (id: string, userId: string | undefined) => visibleTo(roster, userId).get(id),

    list: async (userId: string | undefined, page: Page) =>
      (await visibleTo(roster, userId).list(page)).map((row) => ({
        id: row.id,
        status: status(row),
        created: iso(row.created_at),
        ...place(row.id),
      })),

    async create(caller: Caller, { name, config }: { name: string; config: { plan: string; aiProvider?: string } }) {
      const { plan, size } = planOf(config.plan);
      const [row] = await add(caller, [
        {
          id: newId(),
          name,
          plan,
          status: 'pending',
          model: defaultModel,
          ...(size && { size }),
          ...(config.aiProvider && { aiProvider: config.aiProvider }),
        },
      ]);
      const { id } = row!;
      return { id, name, agentId: id, status: status(row!), ...place(id), createdAt: iso(row!.created_at) };
    },

    ...reading(deps, place, vouched),
    ...changing(deps, place, planOf),
    ...verifying(deps, vouched),
  };
}

const NOT_VERIFIED: Partial<AgentRow> = {
  verification_type: null,
  attestation_uid: null,
  verifier_address: null,
  verification_metadata: null,
  verified_at: null,
};
