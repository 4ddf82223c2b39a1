import { backend } from '@troupe/contract';
import { serve, type RequestInfo, type Server, type User } from '@troupe/kernel';
import { actingFor, callerOf } from '../../context.ts';
import { ownerOf, type Managed } from './service.ts';
import type { ManagedSessions } from './sessions.ts';

interface Asked {
  user: User | null;
  request: RequestInfo;
}

const whose = ({ user, request }: Asked): string => ownerOf(user?.id ?? actingFor(request));

const callerFor = (asked: Asked) => {
  const { user } = asked;
  const told = callerOf(asked.request);
  return user ? { userId: user.id, elevated: user.isAdmin, plan: user.plan } : { ...told, userId: whose(asked) };
};

export function managedRoutes(server: Server, managed: Managed, sessions: ManagedSessions): void {
  const on = backend.managed;
  serve(server, on.createAgent, (asked) => managed.createAgent(callerFor(asked), asked.body));
  serve(server, on.getAgent, (asked) => managed.getAgent(whose(asked), asked.params.id, asked.query.version));
  serve(server, on.updateAgent, (asked) => managed.updateAgent(whose(asked), asked.params.id, asked.body));
  serve(server, on.listAgents, (asked) => managed.listAgents(whose(asked), asked.query));
  serve(server, on.archiveAgent, (asked) => managed.archiveAgent(whose(asked), asked.params.id));
  serve(server, on.listAgentVersions, (asked) => managed.listAgentVersions(whose(asked), asked.params.id, asked.query));

  serve(server, on.createEnvironment, (asked) => managed.createEnvironment(whose(asked), asked.body));
  serve(server, on.getEnvironment, (asked) => managed.getEnvironment(whose(asked), asked.params.id));
  serve(server, on.updateEnvironment, (asked) => managed.updateEnvironment(whose(asked), asked.params.id, asked.body));
  serve(server, on.listEnvironments, (asked) => managed.listEnvironments(whose(asked), asked.query));
  serve(server, on.archiveEnvironment, (asked) => managed.archiveEnvironment(whose(asked), asked.params.id));
  serve(server, on.deleteEnvironment, (asked) => managed.deleteEnvironment(whose(asked), asked.params.id));

  serve(server, on.createSession, async (asked) => {
    const [userId, { initial_events: first }] = [whose(asked), asked.body];
    const made = await sessions.create(userId, asked.body);
    if (!first?.length) return made;
    await sessions.send(userId, made.id, first);
    return sessions.get(userId, made.id);
  });
  serve(server, on.getSession, (asked) => sessions.get(whose(asked), asked.params.id));
  serve(server, on.updateSession, (asked) => sessions.update(whose(asked), asked.params.id, asked.body));
  serve(server, on.listSessions, (asked) => sessions.list(whose(asked), asked.query));
  serve(server, on.archiveSession, (asked) => sessions.archive(whose(asked), asked.params.id));
  serve(server, on.deleteSession, (asked) => sessions.remove(whose(asked), asked.params.id));
  serve(server, on.sendEvents, (asked) => sessions.send(whose(asked), asked.params.id, asked.body.events));
  serve(server, on.listEvents, (asked) => sessions.events(whose(asked), asked.params.id, asked.query));
  serve(server, on.streamEvents, (asked) =>
    sessions.stream(asked.user ?? { id: whose(asked) }, asked.params.id, asked.request.signal()),
  );
}
