import { getCredits, getSettings, patchSettings, updateSettings } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { SettingsService } from './service.ts';

export function settingsRoutes(server: Server, settings: SettingsService): void {
  serve(server, getSettings, ({ user }) => settings.get(user));
  serve(server, updateSettings, ({ user, body, request }) => settings.update(user, body, request.address));
  serve(server, patchSettings, ({ user, body, request }) => settings.update(user, body, request.address));
  serve(server, getCredits, ({ user }) => settings.credits(user));
}
