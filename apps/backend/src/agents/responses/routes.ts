import { backend } from '@troupe/contract';
import { serve, type RequestInfo, type Server, type User } from '@troupe/kernel';
import { actingFor } from '../../context.ts';
import type { StoredResponses } from './service.ts';

interface Asked {
  user: User | null;
  request: RequestInfo;
}

const whose = ({ user, request }: Asked): string | undefined => user?.id ?? actingFor(request);

export function responseRoutes(server: Server, responses: StoredResponses): void {
  serve(server, backend.v1.getResponse, (asked) => responses.get(whose(asked), asked.params.id, asked.request));
  serve(server, backend.v1.deleteResponse, (asked) => responses.remove(whose(asked), asked.params.id));
  serve(server, backend.v1.cancelResponse, (asked) => responses.cancel(whose(asked), asked.params.id));
  serve(server, backend.v1.listResponseInput, (asked) =>
    responses.input(whose(asked), asked.params.id, asked.query, asked.request),
  );
}
