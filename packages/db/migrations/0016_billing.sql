-- What the card processor knows about a user.
create table billing_customers (
  user_id text primary key references users on delete cascade,
  -- the processor's name for the user
  customer_id text not null unique,
  created_at timestamptz not null
);
select own_by_user('billing_customers');
revoke insert, update, delete on billing_customers from svc_user;

create table billing_subscriptions (
  -- the processor's
  id text primary key,
  user_id text not null references users on delete cascade,
  plan text not null check (plan in ('solo', 'collective', 'label', 'network')),
  status text not null check (status in ('active', 'inactive', 'past_due', 'cancelled')),
  renews_at timestamptz,
  -- when the newest event about it was made: older ones that come later change nothing
  event_at timestamptz not null
);
create index billing_subscriptions_of_user on billing_subscriptions (user_id);
select own_by_user('billing_subscriptions');
revoke insert, update, delete on billing_subscriptions from svc_user;

-- Every event counts once.
create table billing_events (
  id text primary key,
  type text not null,
  received_at timestamptz not null
);
select system_only('billing_events');
