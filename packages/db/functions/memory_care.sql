-- early
-- Keeps the list of agents whose memory is worked on in the background as their newest definition says. One that was in it
-- stays: what is there of a model that is chosen no more has to go.
create or replace function memory_care() returns trigger language plpgsql as $$
declare
  -- Another release may have put anything there.
  chosen text := case when jsonb_typeof(new.definition #> '{config,memory,embeddings}') = 'string'
    then nullif(new.definition #>> '{config,memory,embeddings}', '') end;
  wanted boolean := coalesce(new.definition #>> '{config,memory,facts}' = 'true', false);
  which text := case when (new.definition ->> 'memoryShared')::boolean and new.definition ? 'team'
    then (select 'team:' || team_id from agents where id = new.agent_id) end;
begin
  if chosen is null and not wanted then
    update agent_memory_care set embeddings = null, facts = false, meaning_due = meaning_due or embeddings is not null,
      facts_note = null where agent_id = new.agent_id and (embeddings is not null or facts);
    return null;
  end if;
  which := coalesce(which, 'agent:' || new.agent_id);
  insert into agent_memory_care as c (agent_id, user_id, scope, embeddings, facts, meaning_due)
  values (new.agent_id, new.user_id, which, chosen, wanted, chosen is not null)
  on conflict (agent_id) do update set scope = excluded.scope, embeddings = excluded.embeddings, facts = excluded.facts,
    meaning_due = c.meaning_due or (c.embeddings, c.scope) is distinct from (excluded.embeddings, excluded.scope),
    -- conversations that ended while nobody wanted facts are left alone
    facts_seen = case when excluded.facts and not c.facts then now() else c.facts_seen end,
    facts_note = case when excluded.facts and c.facts then c.facts_note end;
  return null;
end $$;
