// Runs before everything else. A file of its own: the page's policy allows no inline script.

// That policy forbids code made at run time, too, which zod would try with its first schema.
globalThis.__zod_globalConfig = { jitless: true };

// Before the first paint, so that a dark screen never flashes white.
(() => {
  const stored = localStorage.getItem('theme');
  const dark = stored ? stored === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
})();
