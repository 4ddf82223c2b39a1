-- The memories of a scope that fit these words best, by BM25 over stems. Days count too: where the words name one, a memory
-- has the words of the day on which it was made. Of those that fit, one that was made next to others that fit counts more,
-- since what is remembered together belongs together. A single letter of a script that has no spaces stands for all words
-- that begin with it. Where no more fit than are wanted, none is left out: their order is the server's own rank, for a
-- third of the cost. Else one walk over the scope, and no joins: the planner knows nothing of how many fit. Every answer
-- comes by here, so what can be said without a query is, and the plan is kept.
create or replace function memory_search(p_scope text, p_words text, p_now timestamptz, p_most integer)
  returns table (id text, score float8)
  language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  lexemes text[] := (tsvector_to_array(to_tsvector('pg_catalog.english', p_words)))[1:64];
  said text := array_to_string(lexemes, e'\x01');
  dated boolean := said ~ '(^|\x01)(\d{1,4}|januari|februari|march|april|may|june|juli|august|septemb|octob|novemb|decemb)(\x01|$)';
  wide boolean := octet_length(said) > char_length(said);
  any_of tsquery;
  ids text[];
  ranks float8[];
begin
  if said = '' then return; end if;
  said := '''' || replace(replace(replace(said, '\', '\\'), '''', ''''''), e'\x01', ''' | ''') || '''';
  if wide then said := regexp_replace(said, '''([^\x01-\u07ff])''', '''\1'':*', 'g'); end if;
  any_of := said::tsquery;
  if not dated then
    select array_agg(f.id), array_agg(f.rank) into ids, ranks from (
      select m.id, ts_rank(m.terms, any_of)::float8 as rank from agent_memory m
      where m.scope = p_scope and m.expires_at > p_now and m.terms @@ any_of limit p_most + 1) f;
    if coalesce(cardinality(ids), 0) <= p_most then
      for n in 1 .. coalesce(cardinality(ids), 0) loop
        id := ids[n];
        score := ranks[n];
        return next;
      end loop;
      return;
    end if;
  end if;
  return query
  with placed as (
    select m.id, m.updated_at, row_number() over (order by m.created_at, m.id) as place, (count(*) over ())::float8 as n,
      case when dated then m.terms || to_tsvector('pg_catalog.english',
        to_char(m.created_at at time zone 'utc', 'FMDD FMMonth YYYY')) else m.terms end as terms
    from agent_memory m where m.scope = p_scope and m.expires_at > p_now
  ), counted as (
    select p.id, p.updated_at, p.place, p.n, length(p.terms)::float8 as length, avg(length(p.terms)::float8) over () as average,
      (count(*) over (partition by case when wide and left(t.lexeme, 1) = any (lexemes) then left(t.lexeme, 1)
        else t.lexeme end))::float8 as holders,
      cardinality(t.positions)::float8 as times
    from placed p, unnest(p.terms) as t
    where p.terms @@ any_of and (t.lexeme = any (lexemes) or wide and left(t.lexeme, 1) = any (lexemes)
      and octet_length(left(t.lexeme, 1)) > 2)
  ), scored as (
    select id, updated_at, place, sum(ln(1 + (n - holders + 0.5::float8) / (holders + 0.5::float8)) * times * 2.2::float8
      / (times + 1.2::float8 * (0.25::float8 + 0.75::float8 * length / average))) as score
    from counted group by id, updated_at, place
  )
  select id, score + 0.4 * (sum(score) over one - score) + 0.2 * (sum(score) over two - sum(score) over one) as total
  from scored
  window one as (order by place range between 1 preceding and 1 following),
    two as (order by place range between 2 preceding and 2 following)
  order by total desc, updated_at desc, id limit p_most;
end $$;
