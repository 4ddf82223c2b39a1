import { memo, useMemo, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { states } from '../texts/common.ts';
import { Button } from './button.tsx';
import { cx } from './cx.ts';
import { TextField } from './field.tsx';
import { Icon } from './icons.tsx';
import { Failure, Lines } from './states.tsx';
import { orderAfter, rowsShown } from './table-rows.ts';
import type { Order } from './table-rows.ts';
import { useInSight } from './use-in-sight.ts';

export interface Column<Row> {
  key: string;
  /** An empty header is for the column of buttons. */
  header: string;
  cell: (row: Row) => ReactNode;
  /** Makes the column sortable. */
  sort?: (row: Row) => string | number;
  end?: boolean;
  /** Left out on a phone. */
  minor?: boolean;
  /** A share of the width, in percent. */
  width?: number;
  /** What people wrote: a long word breaks instead of pushing the other columns out of sight. The first column always does. */
  free?: boolean;
}

interface TableProps<Row> {
  label: string;
  columns: Column<Row>[];
  rows: Row[] | undefined;
  rowKey: (row: Row) => string;
  error?: Error | null;
  retry?: () => void;
  empty: ReactNode;
  /** Makes the rows filterable by this text. */
  find?: (row: Row) => string;
  /** What the filter is called; with a name it is there however few rows there are. */
  findLabel?: string;
}

const ROW_HEIGHT = 53;

export function Table<Row>({ label, columns, rows, rowKey, error, retry, empty, find, findLabel }: TableProps<Row>) {
  const [filter, setFilter] = useState('');
  const [order, setOrder] = useState<Order>();
  const shown = useMemo(
    () => rows && rowsShown(rows, { filter, find, columns, order }),
    [rows, filter, find, columns, order],
  );

  if (!shown || !rows) {
    return <div className="px-5 pb-5">{error ? <Failure error={error} retry={retry} /> : <Lines rows={5} />}</div>;
  }
  if (rows.length === 0) return <>{empty}</>;
  return (
    <div className="min-w-0">
      {find && (rows.length > 8 || findLabel) && (
        <div className="flex items-center gap-3 px-5 pb-3">
          <div className="w-full max-w-xs">
            <TextField
              label={findLabel ?? states.filter}
              hideLabel
              type="search"
              placeholder={findLabel ?? states.filter}
              value={filter}
              onChange={({ target }) => setFilter(target.value)}
            />
          </div>
          <span className="text-[0.87rem] text-ink-faint" aria-live="polite">
            {states.rows(shown.length, rows.length)}
          </span>
        </div>
      )}
      {shown.length === 0 ? (
        <p className="px-5 pb-6 text-ink-soft">{states.noMatch}</p>
      ) : (
        <Grid label={label} columns={columns} rows={shown} rowKey={rowKey} order={order} onOrder={setOrder} />
      )}
    </div>
  );
}

function Grid<Row>({
  label,
  columns,
  rows,
  rowKey,
  order,
  onOrder,
}: Pick<TableProps<Row>, 'label' | 'columns' | 'rowKey'> & {
  rows: Row[];
  order: Order | undefined;
  onOrder: (order: Order) => void;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLTableSectionElement>(null);
  const keys = useMemo(() => rows.map(rowKey), [rows, rowKey]);
  const { pieces, isMany, measure } = useInSight({ scroller, list: body, keys, height: ROW_HEIGHT });
  return (
    <div
      ref={scroller}
      className={cx('overflow-x-auto', isMany && 'h-[70dvh] overflow-y-auto bg-surface contain-strict')}
      {...(isMany ? { tabIndex: 0, role: 'region', 'aria-label': label } : {})}
    >
      <table
        role="table"
        aria-label={label}
        aria-rowcount={rows.length + 1}
        className={cx('stack w-full text-left', isMany && 'min-[900px]:table-fixed')}
      >
        <Head columns={columns} order={order} onOrder={onOrder} />
        <tbody ref={body} role="rowgroup" className="divide-y divide-line">
          {pieces.map((piece) =>
            'room' in piece ? (
              <tr key={`room-${piece.before}`} aria-hidden="true" style={{ height: piece.room }} />
            ) : (
              <tr
                key={keys[piece.row]!}
                role="row"
                aria-rowindex={piece.row + 2}
                data-row={keys[piece.row]}
                ref={isMany ? measure : undefined}
                className="hover:bg-sunken/50"
              >
                <Cells columns={columns} row={rows[piece.row]!} />
              </tr>
            ),
          )}
        </tbody>
      </table>
    </div>
  );
}

/** Drawn again only when the row or what is shown of it changed, and not at each turn of the wheel. */
const Cells = memo(function Cells<Row>({ columns, row }: { columns: Column<Row>[]; row: Row }) {
  return columns.map((column, place) => (
    <td
      key={column.key}
      role="cell"
      data-label={column.header}
      className={cx(
        'px-5 py-2.5 align-middle',
        (place === 0 || column.free) && 'wrap-anywhere min-[900px]:min-w-36',
        column.end && 'num min-[900px]:text-right',
        column.minor && 'minor',
      )}
    >
      {column.cell(row)}
    </td>
  ));
}) as <Row>(props: { columns: Column<Row>[]; row: Row }) => ReactNode;

function Head<Row>({
  columns,
  order,
  onOrder,
}: {
  columns: Column<Row>[];
  order: Order | undefined;
  onOrder: (order: Order) => void;
}) {
  return (
    <thead role="rowgroup" className="z-1 bg-surface min-[900px]:sticky min-[900px]:top-0">
      <tr role="row" aria-rowindex={1} className="border-b border-line">
        {columns.map((column) => {
          const active = order?.key === column.key;
          return (
            <th
              key={column.key}
              role="columnheader"
              scope="col"
              aria-sort={active ? (order.down ? 'descending' : 'ascending') : undefined}
              style={column.width ? { width: `${column.width}%` } : undefined}
              className={cx('px-5 py-2 text-[0.82rem] font-medium text-ink-faint', column.end && 'text-right')}
            >
              {column.sort ? (
                <button
                  type="button"
                  className="relative inline-flex items-center gap-1 [text-align:inherit] hover:text-ink"
                  onClick={() => onOrder(orderAfter(order, column.key, column.end === true))}
                >
                  {column.header}
                  <Icon
                    name="down"
                    size={12}
                    className={cx(
                      'shrink-0',
                      // Beside the figures' edge, so that the header stands above them.
                      column.end && 'absolute left-full ml-1',
                      !active && 'opacity-0',
                      active && !order.down && 'rotate-180',
                    )}
                  />
                </button>
              ) : (
                column.header || <span className="sr-only">{states.more}</span>
              )}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

/** Pages of a list that the server cuts. */
export function Pager({
  total,
  offset,
  size,
  onChange,
}: {
  total: number;
  offset: number;
  size: number;
  onChange: (offset: number) => void;
}) {
  if (total <= size) return null;
  return (
    <div className="flex items-center justify-between gap-3 border-t border-line px-5 py-3">
      <span className="num text-ink-faint">{states.range(offset + 1, Math.min(offset + size, total), total)}</span>
      <span className="flex gap-2">
        <Button small disabled={offset === 0} onClick={() => onChange(Math.max(0, offset - size))}>
          {states.newer}
        </Button>
        <Button small disabled={offset + size >= total} onClick={() => onChange(offset + size)}>
          {states.older}
        </Button>
      </span>
    </div>
  );
}
