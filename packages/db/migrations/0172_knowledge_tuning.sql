-- expand: a column with a default, which processes of an older release leave alone
-- How the documents of a collection are cut and weighed, where a document of a team says so.
alter table knowledge_collections add column tuning jsonb not null default '{}';
