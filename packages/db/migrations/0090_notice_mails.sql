-- When a notice was looked at for a mail: sent, or not wanted. What was told before is not told again.
alter table notices add column mailed_at timestamptz;
update notices set mailed_at = created_at;
create index notices_to_mail on notices (id) where mailed_at is null;
