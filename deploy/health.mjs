/** The image's health check: whether web answers and reaches its database, or whether the named address answers. */
const url = process.argv[2] ?? `http://127.0.0.1:${process.env['WEB_PORT'] || 3000}/api/health`;
const answer = await fetch(url, { signal: AbortSignal.timeout(4000) }).catch(() => undefined);
/** @type {{ health?: string }} */
const { health } = answer?.ok ? JSON.parse(await answer.text()) : { health: 'unhealthy' };
process.exit(health === 'unhealthy' ? 1 : 0);
