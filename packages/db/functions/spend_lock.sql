-- All changes to one user's spending happen one after the other: no sum is ever read while another call adds to it.
create or replace function spend_lock(p_user text) returns void
  language sql
  begin atomic
    select pg_advisory_xact_lock(hashtextextended('spend:' || p_user, 0));
  end;
