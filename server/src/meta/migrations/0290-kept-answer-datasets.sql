-- A page token is valid only for its caller. Earlier tokens name no caller and are refused.
alter table search_pages add column identity jsonb;

-- log_ids are the datasets of a stored response, which only callers who may read all of them get. They are unknown for earlier responses.
alter table searches add column log_ids uuid[];

-- reads are all datasets that the records of a monitor were ever computed from.
alter table monitor_states add column reads uuid[] not null default '{}';
