-- early
-- A mail that its agent takes starts the tasks that wait for it, in the transaction that writes it down: each mail once.
create or replace function task_mail_arrived() returns trigger language plpgsql as $$
declare
  v_trigger record;
begin
  for v_trigger in select id, task_id from task_triggers
    where agent_id = new.agent_id and user_id = new.user_id and kind = 'email' and enabled
      and (sender is null or lower(new.sender) = sender or (sender like '@%' and right(lower(new.sender), length(sender)) = sender))
    order by id
  loop
    perform task_take_in(v_trigger.task_id, v_trigger.id, 'email', null,
      'From: ' || new.sender || E'\nSubject: ' || coalesce(new.content #>> '{extra,subject}', '') || E'\n\n'
        || coalesce(new.content ->> 'text', '')
        || coalesce((select E'\n\nFiles: ' || string_agg(path, ', ') from jsonb_array_elements_text(
          case when jsonb_typeof(new.content -> 'paths') = 'array' then new.content -> 'paths' else '[]' end) path), ''),
      0);
  end loop;
  return null;
end $$;
