// One page of ours, for whoever opens or reloads a page while the platform is away, and what the platform pushes. Nothing
// else is kept.
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

// Every message must be shown, or the browser shows one of its own.
self.addEventListener('push', (event) => {
  let said = {};
  try {
    said = event.data?.json() ?? {};
  } catch {
    // Not ours; still it has to be shown.
  }
  const { title = 'Troupe', body = '', url = '/dashboard', tag } = said;
  event.waitUntil(self.registration.showNotification(title, { body, tag, icon: '/icon.svg', data: { url } }));
});

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  const to = new URL(event.notification.data?.url ?? '/dashboard', self.location.origin);
  const open = async () => {
    // A message leads nowhere but here.
    const url = to.origin === self.location.origin ? to.href : self.location.origin;
    const [tab] = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
    if (!tab) return self.clients.openWindow(url);
    await tab.focus();
    return tab.navigate(url);
  };
  event.waitUntil(open());
});
