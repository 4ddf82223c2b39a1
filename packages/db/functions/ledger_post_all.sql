-- Moves money for many who ask at once, as if ledger_post were called for one after the other; no two have the same key.
-- p_accounts has each account once. Entry e moves p_amounts[e] into p_accounts[p_places[e]]; the entries of posting n end
-- at p_ends[n], and none has an account twice. Answers for each posting, in their order, its transaction and what became of
-- it: 'new'; 'replayed'; 'other', the key was used for another request; 'short', there is not enough money; 'alone', it
-- must be posted by itself, which says what is wrong with it. Those refused leave nothing behind and stop nobody else.
-- All who post lock accounts in the order of their ids. Who holds one for long must not hold up all that came along: this
-- gives up before the server looks for a deadlock, so a transaction that somebody else has open is never the one to fail.
create or replace function ledger_post_all(
  p_keys text[], p_hashes text[], p_kinds text[], p_metas text[], p_ends integer[],
  p_accounts text[], p_places integer[], p_amounts bigint[], p_at timestamptz
) returns table (done bigint, said text) language plpgsql
  set lock_timeout = '500ms' set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  set plan_cache_mode = force_generic_plan as $$
declare
  v_row record;
  -- of each posting
  v_ids bigint[] := array_fill(null::bigint, array[cardinality(p_keys)]);
  v_said text[] := array_fill('new'::text, array[cardinality(p_keys)]);
  -- of each account; the least that its balance may be is unknown where it may be anything
  v_balances bigint[] := array_fill(null::bigint, array[cardinality(p_accounts)]);
  v_least bigint[] := array_fill(null::bigint, array[cardinality(p_accounts)]);
  v_assets text[] := array_fill(null::text, array[cardinality(p_accounts)]);
  -- of each entry; its transaction is unknown while nothing moves
  v_afters bigint[] := array_fill(null::bigint, array[cardinality(p_places)]);
  v_owners bigint[] := array_fill(null::bigint, array[cardinality(p_places)]);
  v_first integer := 1;
  v_place integer;
  v_sum bigint;
  v_new integer := 0;
  v_made integer;
begin
  for v_row in select t.id, t.request_hash, array_position(p_keys, t.idempotency_key) as n
    from ledger_transactions t where t.idempotency_key = any (p_keys)
  loop
    v_ids[v_row.n] := v_row.id;
    v_said[v_row.n] := case when v_row.request_hash = p_hashes[v_row.n] then 'replayed' else 'other' end;
  end loop;
  for v_row in select a.id, a.balance, a.held, a.allow_negative, a.asset
    from ledger_accounts a where a.id = any (p_accounts) order by a.id for no key update
  loop
    v_place := array_position(p_accounts, v_row.id);
    v_balances[v_place] := v_row.balance;
    v_assets[v_place] := v_row.asset;
    if not v_row.allow_negative then v_least[v_place] := v_row.held; end if;
  end loop;

  for n in 1 .. cardinality(p_keys) loop
    if v_said[n] = 'new' then
      v_sum := 0;
      for e in v_first .. p_ends[n] loop
        v_place := p_places[e];
        v_sum := v_sum + p_amounts[e];
        v_afters[e] := v_balances[v_place] + p_amounts[e];
        if v_afters[e] is null or v_assets[v_place] <> v_assets[p_places[v_first]] then v_said[n] := 'alone';
        elsif v_afters[e] < v_least[v_place] and v_said[n] = 'new' then v_said[n] := 'short';
        end if;
      end loop;
      if v_sum <> 0 then v_said[n] := 'alone'; end if;
    end if;
    if v_said[n] = 'new' then
      v_new := v_new + 1;
      v_ids[n] := nextval('ledger_transactions_id_seq');
      for e in v_first .. p_ends[n] loop
        v_balances[p_places[e]] := v_afters[e];
        v_owners[e] := v_ids[n];
      end loop;
    end if;
    v_first := p_ends[n] + 1;
  end loop;

  if v_new > 0 then
    -- In the order of their keys: two who store the same ones wait for each other in turn.
    insert into ledger_transactions (id, idempotency_key, request_hash, kind, meta, created_at) overriding system value
      select p.id, p.key, p.hash, p.kind, coalesce(p.meta::jsonb, '{}'), p_at
      from unnest(v_ids, v_said, p_keys, p_hashes, p_kinds, p_metas) as p (id, said, key, hash, kind, meta)
      where p.said = 'new' order by p.key
      on conflict (idempotency_key) do nothing;
    get diagnostics v_made = row_count;
    if v_made < v_new then raise exception 'an idempotency key was used meanwhile' using errcode = 'LG005'; end if;
    update ledger_accounts a set balance = b.balance
      from unnest(p_accounts, v_balances) as b (id, balance) where a.id = b.id and a.balance <> b.balance;
    insert into ledger_entries (transaction_id, account_id, amount, balance_after, created_at)
      select e.owner, p_accounts[e.place], e.amount, e.after, p_at
      from unnest(v_owners, p_places, p_amounts, v_afters) as e (owner, place, amount, after) where e.owner is not null;
  end if;
  return query select p.id, p.said from unnest(v_ids, v_said) as p (id, said);
end $$;
