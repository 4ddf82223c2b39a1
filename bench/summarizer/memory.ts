import { ordinaryPage } from './pages.ts';
import { ours, withCheerio } from './sides.ts';

/** Run as a process of its own: reads a page of the given size over and over and prints the peak of its memory in MB. */
const [side, bytes] = process.argv.slice(2);
const { summarize, extract } = side === 'ours' ? ours : await withCheerio(false);
const page = Buffer.from(ordinaryPage(Number(bytes)));
const until = performance.now() + 1_500;
while (performance.now() < until) {
  await summarize(page);
  await extract(page);
}
console.log(process.resourceUsage().maxRSS / 1024);
