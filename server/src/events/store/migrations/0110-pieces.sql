-- The pieces of long words per granule, so that a search for a long id reads only granules with a longer word that may contain it (id-search.ts). Parts
-- from before get the index when they are merged and have settled again.
alter table {{local events_s}} {{on cluster}} add index if not exists pieces {{pieces s}} granularity 1;
alter table {{local events_m}} {{on cluster}} add index if not exists pieces {{pieces m}} granularity 1;
alter table {{local events_l}} {{on cluster}} add index if not exists pieces {{pieces l}} granularity 1;
alter table {{local events_s}} {{on cluster}} modify setting exclude_materialize_skip_indexes_on_merge = '{{late indexes}}';
alter table {{local events_m}} {{on cluster}} modify setting exclude_materialize_skip_indexes_on_merge = '{{late indexes}}';
alter table {{local events_l}} {{on cluster}} modify setting exclude_materialize_skip_indexes_on_merge = '{{late indexes}}';
