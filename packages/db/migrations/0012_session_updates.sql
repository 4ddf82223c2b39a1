-- Last seen moves all the time: with no index on it and room in the page, an update touches one page and no index.
drop index sessions_of_user;
create index sessions_of_user on sessions (user_id);
alter table sessions set (fillfactor = 80);
alter table api_keys set (fillfactor = 90);
