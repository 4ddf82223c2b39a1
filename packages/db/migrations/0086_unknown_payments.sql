-- unknown: the gateway that was asked to pay did not say whether it did; it counts as paid until the owner knows better
alter table agent_payments drop constraint agent_payments_status_check;
alter table agent_payments add constraint agent_payments_status_check
  check (status in ('approval', 'denied', 'pending', 'paid', 'failed', 'unknown'));
