import { web } from '@troupe/contract';
import { respond, serve, type RequestInfo, type Server } from '@troupe/kernel';
import { originOf } from '../origin.ts';
import type { CallbackQuery, OAuth, ProviderName, Way } from './service.ts';

const follow = ({ location, cookies }: Way) =>
  respond({ status: 302, headers: { location, 'cache-control': 'no-store' }, body: '', cookies });

export function oauthRoutes(server: Server, oauth: OAuth): void {
  const finish = async (name: ProviderName, query: CallbackQuery, request: RequestInfo) =>
    follow(await oauth.finish(name, query, request.cookies(), originOf(request)));
  serve(server, web.oauth.listProviders, () => oauth.configured());
  serve(server, web.oauth.startIdp1, async () => follow(await oauth.start('idp1')));
  serve(server, web.oauth.startIdp2, async () => follow(await oauth.start('idp2')));
  serve(server, web.oauth.finishIdp1, ({ query, request }) => finish('idp1', query, request));
  serve(server, web.oauth.finishIdp2, ({ query, request }) => finish('idp2', query, request));
}
