-- Kept after use, too: a used token opens nothing, and the administrators' list still names it.
alter table invites alter column token_sealed set not null;
