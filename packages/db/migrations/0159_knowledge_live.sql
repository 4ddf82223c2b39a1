-- expand: a new trigger on a new table
-- Whoever looks at the documents of a collection sees when one of them is read.
create trigger tell_live after update of state on knowledge_documents
  for each row execute function tell_live('knowledge', 'user_id');
