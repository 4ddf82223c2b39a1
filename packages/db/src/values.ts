import pg from 'pg';

const INT8 = 20;
const INT8_ARRAY = 1016;
const DATE = 1082;

type Parse = (text: string) => unknown;

const deepBigInt = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(deepBigInt) : typeof value === 'string' ? BigInt(value) : value;

/** How a value of the server becomes one of ours: int8 is a bigint, numeric a string, date the day as text, timestamptz a Date. */
export function valueParser(oid: number): Parse {
  if (oid === INT8) return BigInt;
  if (oid === DATE) return String;
  const parse = (pg.types.getTypeParser as (oid: number, format: 'text') => Parse)(oid, 'text');
  return oid === INT8_ARRAY ? (text) => deepBigInt(parse(text)) : parse;
}
