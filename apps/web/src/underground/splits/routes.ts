import { backend as onBackend, web } from '@troupe/contract';
import { serve, type BackendClient, type Server } from '@troupe/kernel';
import { passOn } from '../../platform/reach.ts';
import { asUserOf, pageAsText, repeatable } from '../pass.ts';

export function splitRoutes(server: Server, backend: BackendClient): void {
  const as = asUserOf(backend);
  serve(server, web.splits.create, ({ user, body, request }) =>
    passOn(as(user, request).call(onBackend.splits.create, { body, headers: repeatable(request) })),
  );
  serve(server, web.splits.list, ({ user, query, request }) =>
    passOn(as(user, request).call(onBackend.splits.list, { query: pageAsText(query) })),
  );
}
