import type { CostsReply } from '@troupe/contract';
import { Link } from '@tanstack/react-router';
import { count, money, percent, short } from '../../../format.ts';
import { costs as texts } from '../../../texts/costs.ts';
import { Card } from '../../../ui/card.tsx';
import { Empty } from '../../../ui/states.tsx';
import { Pager, Table, type Column } from '../../../ui/table.tsx';
import { Segments } from '../../../ui/tabs.tsx';
import type { Asked } from './asked.ts';
import { nameOf, PAGE, sidesOf } from './sides.ts';
import type { Row } from './sides.ts';

function columnsOf({ by, id, ofAll, go }: Asked, total: number): Column<Row>[] {
  const share = ({ costUsd }: Row) => (total > 0 ? (100 * costUsd) / total : 0);
  return [
    {
      key: 'name',
      header: texts.sides[by],
      sort: (row) => nameOf(by, row),
      cell: (row) => (
        <button
          type="button"
          aria-pressed={row.id === id}
          title={by === 'model' ? row.id : undefined}
          onClick={() => go({ id: row.id === id ? undefined : row.id })}
          className="min-w-0 rounded text-left font-medium break-words hover:underline aria-pressed:text-accent-ink"
        >
          <bdi>{nameOf(by, row)}</bdi>
          {ofAll && row.owner && by !== 'model' && (
            <span className="block text-[0.85rem] font-normal break-all text-ink-faint">{row.owner}</span>
          )}
        </button>
      ),
    },
    {
      key: 'calls',
      header: texts.callsHead,
      end: true,
      minor: true,
      sort: (row) => row.calls,
      cell: (row) => count(row.calls),
    },
    {
      key: 'tokens',
      header: texts.tokensHead,
      end: true,
      minor: true,
      sort: (row) => row.inputTokens + row.outputTokens,
      cell: (row) => (
        <span title={texts.inAndOut(count(row.inputTokens), count(row.outputTokens))}>
          {short(row.inputTokens + row.outputTokens)}
        </span>
      ),
    },
    { key: 'share', header: texts.share, end: true, sort: share, cell: (row) => percent(share(row)) },
    { key: 'cost', header: texts.cost, end: true, sort: (row) => row.costUsd, cell: (row) => money(row.costUsd) },
    ...(by === 'agent' && !ofAll ? [openColumn()] : []),
  ];
}

const openColumn = (): Column<Row> => ({
  key: 'open',
  header: '',
  end: true,
  minor: true,
  cell: ({ id, name }) =>
    name !== null && (
      <Link
        to="/dashboard/agents/$id"
        params={{ id } as never}
        search={{ tab: 'work', part: 'cost' } as never}
        aria-label={texts.openNamed(name)}
        className="link text-[0.9rem]"
      >
        {texts.open}
      </Link>
    ),
});

/** What each side cost; choosing one shows its days above. */
export function CostRows({ reply, asked }: { reply: CostsReply; asked: Asked }) {
  const { by, ofAll, offset, go } = asked;
  return (
    <Card
      title={texts.by}
      hint={texts.byHint[by]}
      flush
      className="overflow-hidden"
      actions={
        <div className="max-w-full overflow-x-auto">
          <Segments
            label={texts.by}
            value={by}
            onChange={(next) => go({ by: next, id: undefined, offset: undefined })}
            choices={sidesOf(ofAll).map((value) => ({ value, label: texts.sides[value] }))}
          />
        </div>
      }
    >
      <Table
        label={texts.by}
        rows={reply.rows}
        rowKey={({ id }) => id}
        find={(row) => `${nameOf(by, row)} ${row.id} ${row.owner ?? ''}`}
        empty={<Empty title={texts.none} />}
        columns={columnsOf(asked, reply.total.costUsd)}
      />
      <Pager
        total={reply.count}
        offset={offset}
        size={PAGE}
        onChange={(next) => go({ offset: next === 0 ? undefined : String(next) })}
      />
    </Card>
  );
}
