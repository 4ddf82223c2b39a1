-- expand: a column with a default, which processes of an older release leave alone
-- How many gateway tokens of the agent have ended: what else its program shows of itself counts for one of them.
alter table agents add column token_generation integer not null default 0;
create trigger count_token before update of token_hash on agents for each row
  when (old.token_hash is not null and new.token_hash is distinct from old.token_hash) execute function count_token();
