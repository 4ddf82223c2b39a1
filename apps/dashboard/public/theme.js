// Runs before the first paint, so that a dark screen never flashes white. A file of its own: the page's policy allows no inline script.
(() => {
  const stored = localStorage.getItem('theme');
  const dark = stored ? stored === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
})();
