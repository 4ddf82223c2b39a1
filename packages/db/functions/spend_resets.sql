-- When the window of a cap ends; null for a total.
create or replace function spend_resets(period text, at timestamptz) returns timestamptz
  language sql immutable
  return case period
    when 'day' then date_trunc('day', at, 'UTC') + interval '1 day'
    when 'month' then (date_trunc('month', at, 'UTC') at time zone 'UTC' + interval '1 month') at time zone 'UTC'
  end;
