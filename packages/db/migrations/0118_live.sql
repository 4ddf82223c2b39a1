-- Pages are told what changed instead of asking. The payload is `user topic`; the user `*` is every administrator. Only
-- what changes rarely is told this way: a transaction that tells commits alone.
create function tell_live() returns trigger language plpgsql as $$
declare
  changed jsonb := to_jsonb(case when tg_op = 'DELETE' then old else new end);
begin
  perform pg_notify('live', (changed ->> tg_argv[1]) || ' ' || tg_argv[0]);
  return null;
end $$;

create function tell_administrators() returns trigger language plpgsql as $$
begin
  perform pg_notify('live', '* ' || tg_argv[0]);
  return null;
end $$;

create trigger tell_live_made after insert or delete on agents
  for each row execute function tell_live('agents', 'user_id');
create trigger tell_live after update of name, model, status, failure, team_id, verified_at on agents
  for each row when ((old.name, old.model, old.status, old.failure, old.team_id, old.verified_at)
    is distinct from (new.name, new.model, new.status, new.failure, new.team_id, new.verified_at))
  execute function tell_live('agents', 'user_id');

-- A call of a tool begins or ends to wait for its owner.
create trigger tell_live after update of status on agent_sessions
  for each row when (old.status is distinct from new.status and 'waiting' in (old.status, new.status))
  execute function tell_live('inbox', 'user_id');

create trigger tell_live after update of read_at on notices
  for each row when (old.read_at is distinct from new.read_at) execute function tell_live('notices', 'user_id');

create trigger tell_live after insert or delete or update of status on devices
  for each row execute function tell_live('devices', 'user_id');

create trigger tell_live after update of plan, subscription_status on users
  for each row when ((old.plan, old.subscription_status) is distinct from (new.plan, new.subscription_status))
  execute function tell_live('account', 'id');

-- Who has no plan where nothing is sold asks the administrators for one. One row for each person: the newest request.
create table access_requests (
  user_id text primary key references users on delete cascade,
  note text not null,
  asked_at timestamptz not null,
  state text not null check (state in ('asked', 'granted', 'refused')),
  decided_at timestamptz,
  decided_by text references users on delete set null,
  -- What the administrator says to a refusal.
  answer text not null default ''
);
select own_by_user('access_requests');
create index access_requests_waiting on access_requests (asked_at) where state = 'asked';
create trigger tell_live after insert or update on access_requests
  for each row execute function tell_live('account', 'user_id');
create trigger tell_administrators after insert or update on access_requests
  for each row execute function tell_administrators('joining');
