import { writeFileSync } from 'node:fs';
import { envExample, settingsPage } from './lib/settings-docs.ts';

/** `npm run docs:settings`: writes .env.example and docs/settings.md from the settings table. */
writeFileSync(new URL('../.env.example', import.meta.url), envExample());
writeFileSync(new URL('../docs/settings.md', import.meta.url), settingsPage());
