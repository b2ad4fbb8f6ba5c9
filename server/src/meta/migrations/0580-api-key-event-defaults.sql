-- Where the events of a key go unless a request says otherwise: a collection, a dataset and tags, each of which may be absent.
alter table api_keys add column event_defaults jsonb not null default '{}';
