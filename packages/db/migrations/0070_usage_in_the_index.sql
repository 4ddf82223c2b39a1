-- Rows of one user are spread over all pages of the table. With the sums in the index beside their key, a question reads
-- what stands together there, and the table not at all.
alter table usage_daily drop constraint usage_daily_pkey;
alter table usage_daily add primary key (user_id, day, agent_id, model, provider)
  include (calls, input_tokens, output_tokens, cost_micros);
-- Only pages that were vacuumed can be passed over: do it after 1 % of new rows, not after 20 %.
alter table usage_daily set (autovacuum_vacuum_insert_scale_factor = 0.01);
