-- early
-- Pages are told what changed instead of asking. The payload is `user topic`; the user `*` is every administrator. Only
-- what changes rarely is told this way: a transaction that tells commits alone.
create or replace function tell_live() returns trigger language plpgsql as $$
declare
  changed jsonb := to_jsonb(case when tg_op = 'DELETE' then old else new end);
begin
  perform pg_notify('live', (changed ->> tg_argv[1]) || ' ' || tg_argv[0]);
  return null;
end $$;
