// Asks until somebody answers, then loads the page that was wanted.
const again = async () => {
  try {
    await fetch('/api/health', { cache: 'no-store' });
    location.reload();
  } catch {
    setTimeout(again, 3000);
  }
};
document.querySelector('button').addEventListener('click', () => location.reload());
setTimeout(again, 3000);
