export interface Order {
  key: string;
  down: boolean;
}

interface Sorted<Row> {
  key: string;
  sort?: (row: Row) => string | number;
}

const comparing =
  <Row>(by: (row: Row) => string | number, down: boolean) =>
  (a: Row, b: Row): number => {
    const [x, y] = [by(a), by(b)];
    const result = typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y));
    return down ? -result : result;
  };

/** The rows that have the words of the filter, in the order that was chosen. The rows that were given stay as they are. */
export function rowsShown<Row>(
  rows: readonly Row[],
  {
    filter,
    find,
    columns,
    order,
  }: {
    filter: string;
    find: ((row: Row) => string) | undefined;
    columns: readonly Sorted<Row>[];
    order: Order | undefined;
  },
): Row[] {
  const wanted = filter.trim().toLowerCase();
  const kept = find && wanted ? rows.filter((row) => find(row).toLowerCase().includes(wanted)) : [...rows];
  const by = columns.find(({ key }) => key === order?.key)?.sort;
  return by && order ? kept.sort(comparing(by, order.down)) : kept;
}

/** What a click on a header asks for: the other way round, or at first the way that suits the column. */
export const orderAfter = (order: Order | undefined, key: string, downFirst: boolean): Order => ({
  key,
  down: order?.key === key ? !order.down : downFirst,
});
