import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { SettingsService } from './service.ts';

export function settingsRoutes(server: Server, settings: SettingsService): void {
  serve(server, web.settings.get, ({ user }) => settings.get(user));
  serve(server, web.settings.update, ({ user, body, request }) => settings.update(user, body, request.address));
  serve(server, web.settings.patch, ({ user, body, request }) => settings.update(user, body, request.address));
  serve(server, web.settings.getCredits, ({ user }) => settings.credits(user));
}
