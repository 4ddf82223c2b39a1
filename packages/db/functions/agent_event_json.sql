-- An event as programs see it.
create or replace function agent_event_json(e agent_events) returns jsonb
  language sql stable
  return e.data || jsonb_build_object('seq', e.seq, 'at', iso_text(e.at));
