-- The memories of a scope that fit these words best, by BM25 over stems. Days count too: where the words name one, a memory
-- has the words of the day on which it was made. Of those that fit, one that was made next to others that fit counts more,
-- since what is remembered together belongs together. How often a word stands in a text is told by ts_rank of the word
-- alone, which is the sum of 1/n² over its places, made smaller by π²/6. One walk over the scope, and no joins: the planner
-- knows nothing of how many fit.
create or replace function memory_search(p_scope text, p_words text, p_now timestamptz, p_most integer)
  returns table (id text, score float8)
  language sql stable set enable_seqscan = off as $$
  with asked as materialized (
    select array_agg(lexeme) as lexemes, array_agg(wanted) as wanted, string_agg(wanted::text, ' | ')::tsquery as any_of,
      bool_or(lexeme ~ '^(\d{1,4}|januari|februari|march|april|may|june|juli|august|septemb|octob|novemb|decemb)$') as dated
    from (
      select lexeme, case when char_length(lexeme) = 1 and octet_length(lexeme) > 2
        then (quote_literal(lexeme) || ':*')::tsquery else quote_literal(lexeme)::tsquery end as wanted
      from unnest(to_tsvector('pg_catalog.english', p_words)) limit 64) a
  ), placed as (
    select m.id, m.updated_at, row_number() over (order by m.created_at, m.id) as place, (count(*) over ())::float8 as n,
      m.terms || case when a.dated then to_tsvector('pg_catalog.english',
        to_char(m.created_at at time zone 'utc', 'FMDD FMMonth YYYY')) else '' end as terms
    from asked a, agent_memory m where m.scope = p_scope and m.expires_at > p_now
  ), counted as (
    select p.id, p.updated_at, p.place, p.n, length(p.terms)::float8 as length,
      (count(*) over (partition by t.lexeme))::float8 as holders, avg(length(p.terms)::float8) over () as average,
      round(1 / greatest(1.6449340668::float8 * (1 - ts_rank('{1,1,1,1}', p.terms, t.wanted)), 0.004::float8) - 0.5::float8) as times
    from asked a, placed p, unnest(a.lexemes, a.wanted) as t (lexeme, wanted)
    where p.terms @@ a.any_of and p.terms @@ t.wanted
  ), scored as (
    select id, updated_at, place, sum(ln(1 + (n - holders + 0.5::float8) / (holders + 0.5::float8)) * times * 2.2::float8
      / (times + 1.2::float8 * (0.25::float8 + 0.75::float8 * length / average))) as score
    from counted group by id, updated_at, place
  )
  select id, score + 0.4 * (sum(score) over one - score) + 0.2 * (sum(score) over two - sum(score) over one) as total
  from scored
  window one as (order by place range between 1 preceding and 1 following),
    two as (order by place range between 2 preceding and 2 following)
  order by total desc, updated_at desc, id limit p_most
$$;
