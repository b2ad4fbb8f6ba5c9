-- The parts of lines per granule, so that a search that knows them finds out that there are no others without reading them (shapes.ts). Parts of the
-- store from before get the index when they are merged and have settled again.
alter table {{local events_s}} {{on cluster}} add index if not exists distinct_parts {{distinct parts}} granularity 1;
alter table {{local events_m}} {{on cluster}} add index if not exists distinct_parts {{distinct parts}} granularity 1;
alter table {{local events_l}} {{on cluster}} add index if not exists distinct_parts {{distinct parts}} granularity 1;
alter table {{local events_s}} {{on cluster}} modify setting exclude_materialize_skip_indexes_on_merge = '{{late indexes}}';
alter table {{local events_m}} {{on cluster}} modify setting exclude_materialize_skip_indexes_on_merge = '{{late indexes}}';
alter table {{local events_l}} {{on cluster}} modify setting exclude_materialize_skip_indexes_on_merge = '{{late indexes}}';
