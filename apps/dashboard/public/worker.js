// One page of ours, for whoever opens or reloads a page while the platform is away. Nothing else is kept.
const PAGE = '/away.html';
const PARTS = [PAGE, '/away.css', '/away.js', '/icon.svg', '/before.js'];
const NAME = 'away-1';

self.addEventListener('install', (event) => {
  event.waitUntil(
    caches
      .open(NAME)
      .then((cache) => cache.addAll(PARTS))
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener('activate', (event) => {
  const old = async () => {
    for (const name of await caches.keys()) if (name !== NAME) await caches.delete(name);
    await self.clients.claim();
  };
  event.waitUntil(old());
});

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const isPart = PARTS.includes(new URL(request.url).pathname);
  if (request.mode !== 'navigate' && !isPart) return;
  event.respondWith(
    fetch(request).catch(async () => (await caches.match(isPart ? request : PAGE)) ?? Response.error()),
  );
});
