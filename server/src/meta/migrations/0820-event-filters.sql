-- event_filters are the filters, by dataset, through which the caller saw events when the export or search was begun; null for all events.
alter table exports add column event_filters jsonb;
alter table searches add column event_filters jsonb;
