-- Whatever writes a definition keeps the newest fifty: nothing refers to a version but the one that is in force, and an
-- older one is there to be looked at. Writers hold the agent's row, so two of them cannot pass each other here.
create function prune_definitions() returns trigger
  language plpgsql as $$
begin
  delete from agent_definitions where agent_id = new.agent_id and version <= new.version - 50;
  return null;
end $$;
create trigger prune_definitions after insert on agent_definitions for each row execute function prune_definitions();
delete from agent_definitions d where version <= (
  select max(version) from agent_definitions where agent_id = d.agent_id) - 50;

-- Bounds of what one user keeps, where no plan has one. Whatever inserts, meets them; docs/security.md lists all tables.

-- Refuses a row when its user has so many already: (how many, what to say, a further column that must be the same).
-- The code is answered with 429.
create function refuse_beyond() returns trigger
  language plpgsql as $$
declare
  found boolean;
begin
  execute format(
    'select true from %I.%I where user_id = ($1).user_id %s offset %s limit 1', tg_table_schema, tg_table_name,
    case when tg_nargs > 2 then format('and %I = ($1).%I', tg_argv[2], tg_argv[2]) else '' end, tg_argv[0]::integer - 1)
    into found using new;
  if found then raise exception using errcode = 'TR429', message = tg_argv[1]; end if;
  return new;
end $$;

create trigger bounded before insert on teams for each row
  execute function refuse_beyond('500', 'Too many teams (max 500)');
create trigger bounded before insert on wallets for each row
  execute function refuse_beyond('1000', 'Too many wallets (max 1000)');
create trigger bounded before insert on underground_events for each row
  execute function refuse_beyond('2000', 'Too many events (max 2000)');
create trigger bounded before insert on underground_tickets for each row
  execute function refuse_beyond('1000', 'Too many orders for this event (max 1000)', 'event_id');
create index underground_tickets_of_user on underground_tickets (user_id, event_id);

create function refuse_splits() returns trigger
  language plpgsql as $$
begin
  if exists (select from splits where user_id = new.user_id and created_at > new.created_at - interval '1 day' offset 999)
  then raise exception using errcode = 'TR429', message = 'Too many splits (max 1000 a day)'; end if;
  return new;
end $$;
create trigger bounded before insert on splits for each row execute function refuse_splits();
create index splits_of_day on splits (user_id, created_at);

-- What is only looked back at: the newest are kept.
create function prune_sessions() returns trigger
  language plpgsql as $$
begin
  delete from sessions where user_id = new.user_id and (expires_at < new.created_at or id in (
    select id from sessions where user_id = new.user_id order by created_at desc, id offset 100));
  return null;
end $$;
create trigger prune_sessions after insert on sessions for each row execute function prune_sessions();

create function prune_links() returns trigger
  language plpgsql as $$
begin
  execute format('delete from %I.%I where user_id = $1 and expires_at < now()', tg_table_schema, tg_table_name)
    using new.user_id;
  return null;
end $$;
create trigger prune_links after insert on email_verifications for each row execute function prune_links();
create trigger prune_links after insert on password_resets for each row execute function prune_links();

create function prune_notices() returns trigger
  language plpgsql as $$
begin
  delete from notices where user_id = new.user_id and read_at is not null and id <= (
    select id from notices where user_id = new.user_id order by id desc offset 1000 limit 1);
  return null;
end $$;
create trigger prune_notices after insert on notices for each row execute function prune_notices();

create function prune_task_runs() returns trigger
  language plpgsql as $$
begin
  delete from task_runs where task_id = new.task_id and status <> 'running' and due_at <= (
    select due_at from task_runs where task_id = new.task_id order by due_at desc offset 500 limit 1);
  return null;
end $$;
create trigger prune_task_runs after insert on task_runs for each row execute function prune_task_runs();

-- Whoever has a gateway token may ask to be paired: the newest who wait, and the newest of those who were sent away.
create function prune_devices() returns trigger
  language plpgsql as $$
begin
  delete from devices where id in (
    select id from (
      select id, row_number() over (partition by status = 'pending' order by first_seen desc, id) as place
      from devices where user_id = new.user_id and status <> 'approved') d
    where place > 100);
  return null;
end $$;
create trigger prune_devices after insert on devices for each row execute function prune_devices();

-- A quarter of a year of what agents wrote to each other; a few at a time, so that no message waits for an old heap.
create function prune_bus_messages() returns trigger
  language plpgsql as $$
begin
  delete from bus_messages where id in (
    select id from bus_messages where from_user_id = new.from_user_id and status <> 'queued'
      and created_at < new.created_at - interval '90 days' order by number limit 20);
  return null;
end $$;
create trigger prune_bus_messages after insert on bus_messages for each row execute function prune_bus_messages();
create index bus_messages_by_age on bus_messages (from_user_id, number) where status <> 'queued';

-- A ticket opens one WebSocket: the hashes of those that did, until they would have ended anyway.
create table used_tickets (
  hash text primary key,
  expires_at timestamptz not null
);
create index used_tickets_by_end on used_tickets (expires_at);
select system_only('used_tickets');
