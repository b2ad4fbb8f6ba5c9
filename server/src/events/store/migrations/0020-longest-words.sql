-- The longest word per granule, so that a search for an id reads only where the id is a whole word or longer words exist (id-search.ts).
alter table {{local events_s}} {{on cluster}} add index if not exists longest {{longest s}} type minmax granularity 1;
alter table {{local events_m}} {{on cluster}} add index if not exists longest {{longest m}} type minmax granularity 1;
alter table {{local events_l}} {{on cluster}} add index if not exists longest {{longest l}} type minmax granularity 1;
