-- What a list of knowledge_postings has for these places of its block, which go upwards: two bytes each (how often the term
-- stands there, and half of the words), zeros where it stands nowhere. So a list of 100,000 entries need not be sent whole
-- for the few that somebody asks about.
create or replace function posting_entries(p_postings bytea, p_slots integer[]) returns bytea
  language plpgsql immutable parallel safe strict as $$
declare
  -- out of where long values are kept, once
  list bytea := p_postings || ''::bytea;
  entries bytea := decode(repeat('0000', cardinality(p_slots)), 'hex');
  last integer := octet_length(p_postings) / 4 - 1;
  low integer := 0;
  high integer;
  middle integer;
  here integer;
  nth integer := 0;
  slot integer;
begin
  foreach slot in array p_slots loop
    high := last;
    while low <= high loop
      middle := (low + high) / 2;
      here := get_byte(list, middle * 4) * 256 + get_byte(list, middle * 4 + 1);
      if here < slot then
        low := middle + 1;
      elsif here > slot then
        high := middle - 1;
      else
        entries := set_byte(set_byte(entries, nth, get_byte(list, middle * 4 + 2)), nth + 1, get_byte(list, middle * 4 + 3));
        low := middle + 1;
        exit;
      end if;
    end loop;
    nth := nth + 2;
  end loop;
  return entries;
end $$;
