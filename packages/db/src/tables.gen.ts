// Written by `npm run db:types` from the migrations. Do not edit.
import type { ColumnType, Generated, GeneratedAlways } from 'kysely';

type Int8 = ColumnType<bigint, bigint | number, bigint | number>;
type Numeric = ColumnType<string, string | number | bigint, string | number | bigint>;
type Timestamp = ColumnType<Date, Date | string, Date | string>;
type Bytes = ColumnType<Buffer, Uint8Array, Uint8Array>;
/** An array has to be given as JSON text: the driver takes a bare one for an array of the database. */
type Json = ColumnType<unknown, string | Record<string, unknown>, string | Record<string, unknown>>;
type Nullable<T> = [T] extends [ColumnType<infer S, infer I, infer U>] ? ColumnType<S | null, I | null | undefined, U | null> : T | null;
type Default<T> = [T] extends [ColumnType<infer S, infer I, infer U>] ? ColumnType<S, I | undefined, U> : Generated<T>;

export interface Tables {
}
