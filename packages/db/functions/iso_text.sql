-- A moment as JSON has it.
create or replace function iso_text(at timestamptz) returns text
  language sql immutable parallel safe
  return to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
