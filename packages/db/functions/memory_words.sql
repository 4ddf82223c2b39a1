-- early
-- Chinese and Japanese have no spaces between words: what is searched there is each character with the next, and the last
-- one alone. `searchable` of packages/agent says the same for the other store.
create or replace function memory_words(said text) returns tsvector language sql immutable parallel safe
  -- nothing is found by a path: this also runs where there is none
  return case when octet_length(said) = char_length(said) then to_tsvector('pg_catalog.simple', said)
    else to_tsvector('pg_catalog.simple',
      -- each character twice, without the first of a run, in pairs: abc → aabbcc → abbcc → ab bc c
      regexp_replace(regexp_replace(regexp_replace(said,
        '([\u3005\u3006\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff])',
        '\1\1', 'g'),
        '(?<![\u3005\u3006\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff])[\u3005\u3006\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]',
        ' ', 'g'),
        '([\u3005\u3006\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]{1,2})',
        '\1 ', 'g')) end;
