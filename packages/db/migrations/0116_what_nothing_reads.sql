-- Nothing calls the shape of 0071 since 0073 gave it one more argument.
drop function spend_count(text, text, text, timestamptz, bigint, bigint);

-- Written and never read: where an agent is reached, what it was before an update, what kind of agent was wished for.
alter table users drop column instance_id, drop column instance_url;
alter table agents drop column agent_type, drop column previous_image;
