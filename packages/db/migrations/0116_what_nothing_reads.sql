-- Nothing calls the shape of 0071 since 0073 gave it one more argument.
drop function spend_count(text, text, text, timestamptz, bigint, bigint);

-- Written and never read: what an agent was before an update, what kind of agent was wished for.
alter table agents drop column agent_type, drop column previous_image;

-- Otherwise each agent that is deleted looks at all users.
create index users_instance on users (instance_id) where instance_id is not null;
