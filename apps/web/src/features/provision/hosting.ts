import type { ProvisionBody } from '@troupe/contract';
import { agentLimit, isPlan, paidPlan } from '@troupe/domain';
import { LimitReached, type Registry } from '@troupe/fleet';
import { AppError, type Settings, type User } from '@troupe/kernel';

/** An agent as a service of its own on a hosting platform (Render's REST shape), where no backend can take it. */
export interface Hosting {
  provision: (
    user: User,
    body: ProvisionBody & { agentId: string },
  ) => Promise<{ agentId: string; serviceId: string; url: string }>;
}

export interface HostingDeps {
  settings: Pick<
    Settings,
    'HOSTING_API_URL' | 'HOSTING_API_KEY' | 'HOSTING_OWNER_ID' | 'AGENT_IMAGE' | 'AGENTS_DOMAIN'
  >;
  registry: Registry;
  /** Where the agent finds its models. */
  backendUrl: string;
  premium: string;
}

const TIMEOUT_MS = 15_000;

export function createHosting({ settings, registry, backendUrl, premium }: HostingDeps): Hosting | undefined {
  const { HOSTING_API_URL: base, HOSTING_API_KEY: key, HOSTING_OWNER_ID: ownerId } = settings;
  if (!base || !key) return undefined;

  async function call(method: string, path: string, body: unknown): Promise<Record<string, unknown>> {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!response.ok) throw new Error(`HTTP ${response.status} from the hosting platform on ${method} ${path}`);
    const text = await response.text();
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  }

  /** The service, its environment, its public name, and only then the deployment. */
  async function create(agentId: string, env: Readonly<Record<string, string>>): Promise<string> {
    const made = await call('POST', '/v1/services', {
      type: 'web_service',
      name: `agent-${agentId}`,
      ownerId,
      autoDeploy: 'no',
      image: { ownerId, imagePath: settings.AGENT_IMAGE },
      serviceDetails: { runtime: 'image', plan: 'starter' },
    });
    const service = (made['service'] ?? made) as { id?: unknown };
    if (typeof service.id !== 'string') throw new Error('the hosting platform answered without a service');
    const path = `/v1/services/${encodeURIComponent(service.id)}`;
    await call(
      'PUT',
      `${path}/env-vars`,
      Object.entries(env).map(([name, value]) => ({ key: name, value })),
    );
    await call('POST', `${path}/custom-domains`, { name: `${agentId}.${settings.AGENTS_DOMAIN}` });
    await call('POST', `${path}/deploys`, {});
    return service.id;
  }

  return {
    async provision(user, body) {
      const plan = isPlan(body.plan) ? body.plan : 'solo';
      const limit = user.isAdmin ? Infinity : agentLimit(paidPlan(plan, user.plan));
      const channels = {
        ...(body.channelTokenA && { channelA: body.channelTokenA }),
        ...(body.channelTokenB && { channelB: body.channelTokenB }),
        ...(body.channelTokenC && { channelC: body.channelTokenC }),
      };
      const { agentId } = body;
      const row = await registry
        .add(
          user.id,
          [
            {
              id: agentId,
              userId: user.id,
              name: body.name ?? 'My agent',
              plan,
              status: 'provisioning',
              model: body.model ?? premium,
              aiProvider: body.aiProvider,
              agentType: body.agentType,
              channels,
            },
          ],
          limit,
        )
        .then(([first]) => first!)
        .catch((error: unknown) => {
          if (!(error instanceof LimitReached)) throw error;
          const extra = { code: 'AGENT_LIMIT_REACHED', current: error.current, limit };
          throw new AppError(402, `Agent limit reached for ${plan} plan`, extra);
        });
      try {
        const token = await registry.token(row);
        const serviceId = await create(agentId, {
          AGENT_ID: agentId,
          GATEWAY_TOKEN: token,
          PLATFORM_URL: backendUrl,
          PLATFORM_KEY: `sk_${token}`,
          PUBLIC_URL: `https://${agentId}.${settings.AGENTS_DOMAIN}`,
          HOST: '0.0.0.0',
          AGENT_DEFINITION: JSON.stringify(await registry.definition(row)),
          ...(body.channelTokenA && { TELEGRAM_TOKEN: body.channelTokenA }),
          ...(body.channelTokenB && { WHATSAPP_TOKEN: body.channelTokenB }),
          ...(body.channelTokenC && { DISCORD_TOKEN: body.channelTokenC }),
          ...(body.channelUserId && { CHANNEL_USERS: body.channelUserId }),
        });
        return { agentId, serviceId, url: `https://${agentId}.${settings.AGENTS_DOMAIN}` };
      } catch (error) {
        await registry.delete(agentId);
        throw error;
      }
    },
  };
}
