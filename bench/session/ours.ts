import { openRuntime } from '@troupe/db';
import { readSettings } from '@troupe/kernel';
import { createWeb } from '@troupe/web';

/** The product's own web service, as it runs in production. */
const settings = readSettings({
  NODE_ENV: 'production',
  LOG_LEVEL: 'silent',
  INTERNAL_API_KEY: 'bench',
  SESSION_SECRET: 'bench',
  WALLET_ENCRYPTION_KEY: 'bench',
  ...process.env,
});
const runtime = await openRuntime(settings, 'web');
const web = await createWeb({
  ...runtime,
  version: 'bench',
  url: 'http://127.0.0.1:3000',
  backendUrl: 'http://127.0.0.1:9',
});
console.log(JSON.stringify({ address: await web.server.listen(0, 'WEB_PORT') }));
process.on('SIGTERM', () => void web.close().then(() => runtime.close()));
