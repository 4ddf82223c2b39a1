-- expand: a new column that older releases leave alone
-- What a provider is said to have, where it lists nothing or more than can be asked; null: what it lists.
alter table ai_providers add column models text[];
