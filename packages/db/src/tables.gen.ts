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
  account_links: {
    created_at: Timestamp;
    id: string;
    provider: string;
    subject: string;
    tokens: Nullable<Bytes>;
    updated_at: Timestamp;
    user_id: string;
  };
  api_keys: {
    created_at: Timestamp;
    id: string;
    key_hash: string;
    last_used_at: Nullable<Timestamp>;
    name: string;
    preview: string;
    user_id: string;
  };
  audit_log: {
    action: string;
    actor_id: Nullable<string>;
    created_at: Timestamp;
    detail: Default<Json>;
    id: GeneratedAlways<bigint>;
    ip: Nullable<string>;
    user_id: Nullable<string>;
  };
  email_verifications: {
    email: string;
    expires_at: Timestamp;
    token_hash: string;
    user_id: string;
  };
  invites: {
    by_admin: boolean;
    created_at: Timestamp;
    email: Nullable<string>;
    expires_at: Timestamp;
    id: string;
    name: Nullable<string>;
    token_hash: string;
    token_sealed: Nullable<Bytes>;
    used_at: Nullable<Timestamp>;
    used_by: Nullable<string>;
    user_id: string;
  };
  password_resets: {
    expires_at: Timestamp;
    token_hash: string;
    user_id: string;
  };
  referrals: {
    created_at: Timestamp;
    credited_at: Nullable<Timestamp>;
    giver_id: string;
    giver_micros: Default<Int8>;
    user_id: string;
  };
  sessions: {
    created_at: Timestamp;
    device: string;
    expires_at: Timestamp;
    id: string;
    ip: string;
    last_seen_at: Timestamp;
    token_hash: string;
    user_id: string;
  };
  users: {
    created_at: Timestamp;
    credit_micros: Default<Int8>;
    email: string;
    email_verified_at: Nullable<Timestamp>;
    id: string;
    is_admin: Default<boolean>;
    name: string;
    notifications: Default<Json>;
    password_hash: Nullable<string>;
    plan: Nullable<string>;
    referral_code: string;
    subscription_status: Default<string>;
    updated_at: Timestamp;
  };
}
