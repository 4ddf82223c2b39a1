import { newId } from '@troupe/kernel';
import { person, send, type Person, type Reply } from '@troupe/testing/services/people';
import { startServices } from '@troupe/testing/services/services';

export interface Owner extends Person {
  agentId: string;
  /** Below /api/underground of web. */
  at: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Reply>;
}

/** Web with a backend behind it, and people with an agent each. */
export async function startUnderground() {
  const services = await startServices();
  const { db } = services.runtime;
  return {
    stop: services.stop,
    /** Nobody. */
    asStranger: (method: string, path: string, body?: unknown) =>
      send(`${services.web}/api/underground/${path}`, method, body),
    async owner(): Promise<Owner> {
      const who = await person(services, { plan: 'solo' });
      const agentId = newId();
      const row = { id: agentId, user_id: who.id, name: 'A', status: 'running' } as const;
      await db.system.insertInto('agents').values(row).execute();
      const definition = { agent_id: agentId, user_id: who.id, version: 1, definition: { name: 'A', config: {} } };
      await db.system.insertInto('agent_definitions').values(definition).execute();
      return {
        ...who,
        agentId,
        at: (method, path, body, headers) => who.ask(method, `/api/underground/${path}`, body, headers),
      };
    },
  };
}

export const NOT_YOURS = { status: 403, body: { error: 'Agent not found or not owned by you' } };
export const UNAUTHORIZED = { status: 401, body: { error: 'Unauthorized' } };
