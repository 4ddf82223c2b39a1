-- When the window of a cap began; the epoch for a total.
create or replace function spend_since(period text, at timestamptz) returns timestamptz
  language sql immutable
  return case period
    when 'day' then date_trunc('day', at, 'UTC')
    when 'month' then date_trunc('month', at, 'UTC')
    else 'epoch'::timestamptz
  end;
