import cluster, { type Worker } from 'node:cluster';
import type { Metrics } from './metrics.ts';

/**
 * Figures of several processes behind one port. Whoever collects them reaches any one of them, which has to tell of all:
 * it asks the process that started them, and that one asks each.
 */

type Question = { metricsOf: 'all' | 'one'; id: number };
type Told = { process: number; text: string };
type Answer = { metricsFrom: 'all'; id: number; told: Told[] } | { metricsFrom: 'one'; id: number; text: string };

/** Of a process that is at something else or about to end, nothing is told. */
const PATIENCE_MS = 2000;

const isQuestion = (message: unknown): message is Question => (message as Question | null)?.metricsOf !== undefined;
const isAnswer = (message: unknown): message is Answer => (message as Answer | null)?.metricsFrom !== undefined;

/** Those who wait for an answer, by number; who waits for too long hears `none`. */
function createWaiting<T>(none: T) {
  const waiting = new Map<number, (answer: T) => void>();
  let last = 0;
  return {
    ask: (send: (id: number) => void): Promise<T> =>
      new Promise((resolve) => {
        const id = (last += 1);
        const done = (answer: T): void => {
          clearTimeout(timer);
          waiting.delete(id);
          resolve(answer);
        };
        const timer = setTimeout(done, PATIENCE_MS, none);
        waiting.set(id, done);
        send(id);
      }),
    hear: (id: number, answer: T): void => waiting.get(id)?.(answer),
  };
}

/** In the process that started the others: what this one asks of all of them is answered. */
export function answerForAll(worker: Worker, living: ReadonlySet<Worker>): void {
  worker.on('message', (message: unknown) => {
    if (isAnswer(message) && message.metricsFrom === 'one') ofOne.hear(message.id, message.text);
    if (!isQuestion(message)) return;
    const asked = [...living].map(async (one): Promise<Told> => {
      const text = await ofOne.ask((id) => say(one, { metricsOf: 'one', id }));
      return { process: one.id, text };
    });
    void Promise.all(asked).then((told) => say(worker, { metricsFrom: 'all', id: message.id, told }));
  });
}
const ofOne = createWaiting('');

/** One that is just ending hears nothing any more. */
function say(to: Worker, message: Question | Answer): void {
  if (to.isConnected()) to.send(message, () => {});
}

/** In each of the others; alone, a process has nobody to ask. Answers how to stop. */
export function tellOthers(metrics: Pick<Metrics, 'text'>): () => void {
  if (!cluster.isWorker) return () => {};
  const listen = (message: unknown): void => {
    if (isAnswer(message) && message.metricsFrom === 'all') ofAll.hear(message.id, message.told);
    if (!isQuestion(message)) return;
    const answer = (text: string) => process.send?.({ metricsFrom: 'one', id: message.id, text } satisfies Answer);
    metrics.text().then(answer, () => answer(''));
  };
  process.on('message', listen);
  return () => void process.off('message', listen);
}
const ofAll = createWaiting<Told[]>([]);

/** The text of all processes behind this port. */
export async function textOfAll(metrics: Pick<Metrics, 'text'>): Promise<string> {
  if (!cluster.isWorker) return metrics.text();
  const told = await ofAll.ask((id) => process.send?.({ metricsOf: 'all', id } satisfies Question));
  return together(told.length > 0 ? told : [{ process: cluster.worker?.id ?? 0, text: await metrics.text() }]);
}

/** Each series with the number of its process; those of one name stand together, as the format wants it. */
export function together(told: readonly Told[]): string {
  const families = new Map<string, { head: string[]; series: string[] }>();
  for (const { process: number, text } of told) {
    let family = { head: [] as string[], series: [] as string[] };
    for (const line of text.split('\n')) {
      const [, kind, name] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? [];
      if (kind === 'HELP') {
        family = families.get(name!) ?? { head: [line], series: [] };
        families.set(name!, family);
      } else if (kind === 'TYPE') family.head[1] = line;
      else if (line !== '') family.series.push(withProcess(line, number));
    }
  }
  return [...families.values()].map(({ head, series }) => `${[...head, ...series].join('\n')}\n`).join('');
}

const withProcess = (line: string, number: number): string =>
  line.replace(/^([^{ ]+)(\{?)/, (_all, name: string, opened: string) =>
    opened === '' ? `${name}{process="${number}"}` : `${name}{process="${number}",`,
  );
