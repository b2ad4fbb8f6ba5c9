-- Prefixes of the objects of a dataset whose keys differ from event to event, '' for the whole line; the list only grows.
alter table slot_maps add column open_maps text[] not null default '{}';
