-- The memories of a scope that fit these words best, by BM25 over stems. Days count too: a memory has the words of the day
-- on which it was made. Of those that fit, one that was made next to others that fit counts more, since what is remembered
-- together belongs together. How often a word stands in a text is told by ts_rank of the word alone, which is the sum of
-- 1/n² over its places, made smaller by π²/6.
create or replace function memory_search(p_scope text, p_words text, p_now timestamptz, p_most integer)
  returns table (id text, score float8)
  language sql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
  with asked as materialized (
    select lexeme, case when char_length(lexeme) = 1 and octet_length(lexeme) > 2
      then (quote_literal(lexeme) || ':*')::tsquery else quote_literal(lexeme)::tsquery end as wanted
    from unnest(to_tsvector('pg_catalog.english', p_words)) limit 64
  ), dated as (
    select bool_or(lexeme ~ '^(\d{1,4}|januari|februari|march|april|may|june|juli|august|septemb|octob|novemb|decemb)$') as yes from asked
  ), fitting as materialized (
    select m.id, m.created_at, m.updated_at, m.terms || case when (select yes from dated)
        then to_tsvector('pg_catalog.english', to_char(m.created_at at time zone 'utc', 'FMDD FMMonth YYYY')) else '' end as terms
    from agent_memory m
    where m.scope = p_scope and m.expires_at > p_now and (m.terms @@ (select string_agg(wanted::text, ' | ')::tsquery from asked)
      or ((select yes from dated) and to_tsvector('pg_catalog.english', to_char(m.created_at at time zone 'utc', 'FMDD FMMonth YYYY'))
        @@ (select string_agg(wanted::text, ' | ')::tsquery from asked)))
  ), every as (
    select count(*)::float8 as n from agent_memory m where m.scope = p_scope and m.expires_at > p_now
  ), average as (
    select greatest(avg(length(terms)), 1)::float8 as length from fitting
  ), counted as materialized (
    select f.id, a.lexeme, length(f.terms) as length,
      round((1 / greatest(1.6449340668 * (1 - ts_rank('{1,1,1,1}', f.terms, a.wanted)), 0.004) - 0.5)::numeric, 0)::float8 as times
    from fitting f join asked a on f.terms @@ a.wanted
  ), weight as (
    select lexeme, ln(1 + greatest((select n from every) - count(*) + 0.5, 0.5) / (count(*) + 0.5)) as idf
    from counted group by lexeme
  ), scored as materialized (
    select c.id, sum(w.idf * c.times * 2.2 / (c.times + 1.2 * (0.25 + 0.75 * c.length / a.length))) as score
    from counted c join weight w using (lexeme) cross join average a group by c.id
  ), best as (
    select s.id, s.score, f.created_at, f.updated_at from scored s join fitting f using (id)
    order by s.score desc, f.updated_at desc, s.id limit p_most * 3 + 10
  )
  select b.id, b.score + coalesce((
      select sum(s.score * case when near.place = 1 then 0.4 else 0.2 end) from (
        (select m.id, row_number() over (order by m.created_at desc, m.id desc) as place from agent_memory m
          where m.scope = p_scope and (m.created_at, m.id) < (b.created_at, b.id) order by m.created_at desc, m.id desc limit 2)
        union all
        (select m.id, row_number() over (order by m.created_at, m.id) as place from agent_memory m
          where m.scope = p_scope and (m.created_at, m.id) > (b.created_at, b.id) order by m.created_at, m.id limit 2)
      ) near join scored s on s.id = near.id), 0) as score
  from best b order by 2 desc, b.updated_at desc, b.id limit p_most
$$;
