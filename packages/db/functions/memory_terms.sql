-- early
-- What a memory is found by: the stems of its words, and pairs of characters where no spaces stand between words, as
-- `memory_words` makes them. `termsOf` of packages/knowledge has the same stems for the other store.
create or replace function memory_terms(said text) returns tsvector language sql immutable parallel safe
  -- nothing is found by a path: this also runs where there is none
  return case when octet_length(said) = char_length(said) then to_tsvector('pg_catalog.english', said)
    else to_tsvector('pg_catalog.english',
      regexp_replace(regexp_replace(regexp_replace(said,
        '([\u3005\u3006\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff])',
        '\1\1', 'g'),
        '(?<![\u3005\u3006\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff])[\u3005\u3006\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]',
        ' ', 'g'),
        '([\u3005\u3006\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]{1,2})',
        '\1 ', 'g')) end;
