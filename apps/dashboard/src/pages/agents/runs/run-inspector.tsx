import type { ReactNode } from 'react';
import { money, short } from '../../../format.ts';
import { modelName } from '../../../models.ts';
import { runs as texts } from '../../../texts/runs.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Facts } from '../../../ui/card.tsx';
import { effectOf } from '../conversations/effect.ts';
import type { Bar, Run } from './waterfall.ts';

/** What the run had written when this step was over. */
function filesUntil({ bars }: Run, { seq }: Bar): string[] {
  const paths = bars
    .filter((bar) => bar.kind === 'tool' && !bar.isError && bar.seq <= seq)
    .map(({ name, args = '' }) => effectOf(name, args))
    .flatMap((effect) => (effect.kind === 'file' || effect.kind === 'edit' ? [effect.path] : []));
  return [...new Set(paths)].filter(Boolean);
}

function factsOf({ kind, step }: Bar): [string, ReactNode][] {
  if (kind === 'person')
    return step.approved === undefined
      ? []
      : [[texts.kinds['person'] ?? '', step.approved ? texts.allowed : texts.refused]];
  if (kind !== 'model') return [];
  const { model, provider, tokens, spent } = step;
  const facts: [string, ReactNode][] = [
    [texts.model, provider ? texts.servedBy(modelName(model), provider) : modelName(model)],
  ];
  if (tokens) {
    const cached = tokens.cached ? ` (${texts.cached(short(tokens.cached))})` : '';
    facts.push([texts.tokens, texts.counted(short(tokens.in), short(tokens.out)) + cached]);
  }
  if (spent) facts.push([texts.cost, money(spent.costMicros / 1e6)]);
  return facts;
}

/** One step: what it was given, what came of it, and what was there at that moment. */
export function Inspector({ run, bar, onFork }: { run: Run; bar: Bar; onFork: () => void }) {
  const said = bar.kind === 'tool' ? undefined : (bar.step.content ?? bar.step.summary);
  const calls = (bar.step.toolCalls ?? []).map(({ tool }) => tool);
  const messages = run.bars.filter(
    (one) => (one.kind === 'prompt' || one.kind === 'model') && one.seq <= bar.seq,
  ).length;
  const files = filesUntil(run, bar);
  const facts = factsOf(bar);
  return (
    <Card
      title={texts.kinds[bar.kind] ?? bar.kind}
      hint={<span dir="auto">{bar.kind === 'tool' ? bar.name : undefined}</span>}
      actions={
        <Button small onClick={onFork}>
          {texts.fork}
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        {facts.length > 0 && <Facts items={facts} />}
        {said && <Block label={texts.words} text={said} />}
        {calls.length > 0 && <p className="font-mono text-[0.87rem]">{calls.join(', ')}</p>}
        {bar.args !== undefined && <Block label={texts.arguments} text={bar.args} />}
        {bar.kind === 'tool' && <Block label={texts.result} text={bar.step.content ?? ''} />}
        <section className="border-t border-line pt-3 text-[0.9rem] text-ink-soft">
          <h3 className="eyebrow mb-1 font-sans">{texts.then}</h3>
          <p>{texts.messages(messages)}</p>
          {files.length > 0 && (
            <>
              <p className="mt-1">{texts.files}:</p>
              <ul className="list-disc pl-5">
                {files.map((path) => (
                  <li key={path} dir="auto">
                    {path}
                  </li>
                ))}
              </ul>
            </>
          )}
        </section>
      </div>
    </Card>
  );
}

function Block({ label, text }: { label: string; text: string }) {
  return (
    <div>
      <p className="mb-1 text-[0.85rem] text-ink-faint">{label}</p>
      <pre
        tabIndex={0}
        dir="auto"
        aria-label={label}
        className="max-h-72 overflow-auto rounded-lg bg-sunken p-3 font-mono text-[0.85rem] break-words whitespace-pre-wrap"
      >
        {text}
      </pre>
    </div>
  );
}
