// Runs before everything else. A file of its own: the page's policy allows no inline script.

// That policy forbids code made at run time, too, which zod would try with its first schema.
globalThis.__zod_globalConfig = { jitless: true };

// Before the first paint, so that a dark screen never flashes white.
(() => {
  const stored = localStorage.getItem('theme');
  const dark = stored ? stored === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
})();

// The page's own program, or a part of it, did not come: the network changed just then, or the platform was exchanged.
addEventListener(
  'error',
  ({ target }) => {
    if (!(target instanceof HTMLScriptElement)) return;
    const tries = Number(sessionStorage.getItem('reloads'));
    sessionStorage.setItem('reloads', String(tries + 1));
    if (tries < 4) setTimeout(() => location.reload(), 500 * 2 ** tries);
    else document.body.prepend('Troupe could not be loaded. Reload the page to try again.');
  },
  true,
);
