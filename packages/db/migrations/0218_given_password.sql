-- expand: a column with a default
-- The password is the one that the first start made and printed: its owner has chosen none yet.
alter table users add column password_given boolean not null default false;

update users u set password_given = true
where u.password_hash is not null
  and exists (select from audit_log a where a.user_id = u.id and a.action = 'owner-created')
  and not exists (
    select from audit_log a where a.user_id = u.id and a.action in ('password-change', 'password-reset')
  );
