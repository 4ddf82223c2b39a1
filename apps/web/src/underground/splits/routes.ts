import { underground, webUnderground } from '@troupe/contract';
import { serve, type BackendClient, type Server } from '@troupe/kernel';
import { passOn } from '../../platform/reach.ts';
import { asUserOf, pageAsText, repeatable } from '../pass.ts';

export function splitRoutes(server: Server, backend: BackendClient): void {
  const as = asUserOf(backend);
  serve(server, webUnderground.createSplit, ({ user, body, request }) =>
    passOn(as(user, request).call(underground.createSplit, { body, headers: repeatable(request) })),
  );
  serve(server, webUnderground.listSplits, ({ user, query, request }) =>
    passOn(as(user, request).call(underground.listSplits, { query: pageAsText(query) })),
  );
}
