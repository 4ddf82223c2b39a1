-- An agent's id is the first part of its host name, and in host names capitals make no difference.
create unique index agents_host_name on agents (lower(id));
