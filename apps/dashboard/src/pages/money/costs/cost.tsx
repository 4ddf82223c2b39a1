import { web } from '@troupe/contract';
import type { CostsReply } from '@troupe/contract';
import { urlOf, useCall } from '../../../api.ts';
import { count, money, short } from '../../../format.ts';
import { costs as texts } from '../../../texts/costs.ts';
import { Card, Figure, Figures } from '../../../ui/card.tsx';
import { Bars } from '../../../ui/chart.tsx';
import { Icon } from '../../../ui/icons.tsx';
import { Page } from '../../../ui/page.tsx';
import { Empty, Loaded } from '../../../ui/states.tsx';
import { Segments } from '../../../ui/tabs.tsx';
import { useAsked } from './asked.ts';
import type { Asked } from './asked.ts';
import { Budgets } from './budgets.tsx';
import { CostRows } from './cost-rows.tsx';
import { nameOf, PAGE } from './sides.ts';
import { dayLabel, lengthOf, PERIODS } from './period.ts';
import type { Period } from './period.ts';
import { ToolsUsed } from './tools-used.tsx';

export default function Cost() {
  const asked = useAsked();
  const { ofAll, period, by, id, offset } = asked;
  const query = { by, from: period.from, to: period.to };
  const shown = { ...query, limit: String(PAGE), offset: String(offset), ...(id !== undefined && { id }) };
  const own = useCall(
    web.costs.get,
    { query: shown as typeof shown & { by: 'agent' } },
    { keep: true, enabled: !ofAll },
  );
  const all = useCall(web.costs.getOfAll, { query: shown }, { keep: true, enabled: ofAll });
  const read = ofAll ? all : own;
  const file = ofAll
    ? urlOf(web.costs.downloadOfAll, { query })
    : urlOf(web.costs.download, { query: query as typeof query & { by: 'agent' } });
  return (
    <Page title={texts.title} lead={ofAll ? texts.leadOfAll : texts.lead} actions={<Whose asked={asked} />}>
      <Forecast ofAll={ofAll} />
      <ChoosePeriod asked={asked} />
      <Loaded from={read} rows={8}>
        {(reply) => (
          <>
            <Days reply={reply} asked={asked} file={file} />
            <CostRows reply={reply} asked={asked} />
          </>
        )}
      </Loaded>
      {!ofAll && (read.data ?? read.error) && (
        <>
          <ToolsUsed days={lengthOf(period)} />
          <Budgets />
        </>
      )}
    </Page>
  );
}

function Whose({ asked: { isAdmin, ofAll, go } }: { asked: Asked }) {
  return (
    isAdmin && (
      <Segments
        label={texts.whose}
        value={ofAll ? 'all' : 'own'}
        onChange={(of) => go({ of: of === 'all' ? of : undefined, by: undefined, id: undefined, offset: undefined })}
        choices={[
          { value: 'own', label: texts.mine },
          { value: 'all', label: texts.everybody },
        ]}
      />
    )
  );
}

/** This month, and how it will end. */
function Forecast({ ofAll }: { ofAll: boolean }) {
  const own = useCall(web.costs.getForecast, {}, { enabled: !ofAll });
  const all = useCall(web.costs.getForecastOfAll, {}, { enabled: ofAll });
  const { data, error } = ofAll ? all : own;
  // What this page is about is told below, and once.
  if (error && !data) return null;
  const { endUsd = null, lowUsd, highUsd, perDayUsd, basisDays = 0, daysLeft = 0 } = data ?? {};
  return (
    <div>
      <Figures>
        <Figure
          label={texts.thisMonth}
          value={data ? money(data.soFarUsd) : '–'}
          note={data && texts.daysLeft(daysLeft)}
        />
        <Figure
          label={texts.byItsEnd}
          value={endUsd === null ? '–' : texts.about(money(endUsd))}
          note={data && (endUsd === null ? texts.tooEarly : texts.range(money(lowUsd ?? 0), money(highUsd ?? 0)))}
        />
        <Figure label={texts.perDay} value={perDayUsd ? money(perDayUsd) : '–'} note={data && texts.basis(basisDays)} />
      </Figures>
      {endUsd !== null && <p className="mt-2 text-[0.85rem] text-ink-faint">{texts.how(basisDays)}</p>}
    </div>
  );
}

function ChoosePeriod({ asked: { period, go } }: { asked: Asked }) {
  const choose = (key: string) => go({ period: key, from: undefined, to: undefined, offset: undefined });
  const set = (change: Partial<Period>) => go({ period: 'own', from: period.from, to: period.to, ...change });
  const field = 'min-h-9 rounded-lg border border-line-strong bg-surface px-2 num';
  return (
    <div className="flex flex-wrap items-center gap-3">
      <div className="max-w-full overflow-x-auto">
        <Segments
          label={texts.period}
          value={period.key}
          onChange={(key) => (key === 'own' ? set({}) : choose(key))}
          choices={PERIODS.map((value) => ({ value, label: texts.periods[value] }))}
        />
      </div>
      {period.key === 'own' && (
        <span className="flex flex-wrap items-center gap-2">
          <input
            type="date"
            aria-label={texts.from}
            className={field}
            value={period.from}
            max={period.to}
            onChange={({ target }) => target.value && set({ from: target.value })}
          />
          <span aria-hidden="true">–</span>
          <input
            type="date"
            aria-label={texts.to}
            className={field}
            value={period.to}
            min={period.from}
            onChange={({ target }) => target.value && set({ to: target.value })}
          />
        </span>
      )}
    </div>
  );
}

/** The days of the period as a picture; of the chosen row, its part of each. */
function Days({ reply, asked: { by, id, go }, file }: { reply: CostsReply; asked: Asked; file: string }) {
  const { total, days, rows } = reply;
  const chosen = id === undefined ? undefined : rows.find((row) => row.id === id);
  const hint = `${money(total.costUsd)} · ${texts.calls(count(total.calls))} · ${texts.tokens(short(total.inputTokens + total.outputTokens))}`;
  return (
    <Card
      title={id === undefined ? texts.daily : texts.dailyOf(nameOf(by, chosen ?? { id, name: null }))}
      hint={hint}
      actions={
        <>
          {id !== undefined && (
            <button type="button" className="link text-[0.9rem]" onClick={() => go({ id: undefined })}>
              {texts.showAll}
            </button>
          )}
          {total.calls > 0 && (
            <a className="link inline-flex items-center gap-1.5 text-[0.9rem]" href={file} download>
              <Icon name="installations" size={16} />
              {texts.csv}
            </a>
          )}
        </>
      }
    >
      {total.calls === 0 ? (
        <Empty title={texts.none}>{texts.noneHint}</Empty>
      ) : total.costUsd === 0 ? (
        <Empty title={texts.free}>{texts.freeHint}</Empty>
      ) : (
        <Bars
          label={texts.daily}
          points={days.map(({ date, costUsd, chosenUsd }) => ({
            label: dayLabel(date),
            value: costUsd,
            ...(chosenUsd !== null && { part: chosenUsd }),
          }))}
          format={money}
        />
      )}
    </Card>
  );
}
