-- What was owed before there were payouts (0085) has a row and no job: nobody would ever pay it.
do $$
declare
  open_payouts text[];
begin
  -- A new database has no queue yet, and owes nothing.
  if to_regclass('pgboss.job') is null then return; end if;
  -- Row-level security binds the owner of the table, who alone may write to the queue.
  set local role svc_system;
  select array_agg(id) into open_payouts from payouts where status in ('owed', 'sent');
  reset role;
  if open_payouts is null then return; end if;
  -- Made here when no version with payouts has run on this database; the next start sets all its options.
  perform pgboss.create_queue('payout', '{"policy": "standard", "retryLimit": 1000000, "retentionSeconds": 315360000,
    "retryDelay": 5, "retryBackoff": true, "retryDelayMax": 600, "expireInSeconds": 600, "heartbeatSeconds": 30}');
  insert into pgboss.job (name, data, start_after, keep_until, expire_seconds, deletion_seconds, retry_limit, retry_delay,
    retry_backoff, retry_delay_max, policy, dead_letter, heartbeat_seconds)
    select q.name, jsonb_build_object('id', owed.id), now(), now() + q.retention_seconds * interval '1 second', q.expire_seconds,
      q.deletion_seconds, q.retry_limit, q.retry_delay, q.retry_backoff, q.retry_delay_max, q.policy, q.dead_letter,
      q.heartbeat_seconds
    from pgboss.queue q, unnest(open_payouts) as owed (id)
    where q.name = 'payout' and not exists (
      select from pgboss.job j where j.name = q.name and j.data ->> 'id' = owed.id and j.state < 'completed');
end $$;
