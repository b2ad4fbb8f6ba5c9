-- Merges leave out the indexes of words. late-indexes.ts adds them to parts that have settled, so that they are computed about once per event and
-- not at every merge.
alter table {{local events_s}} {{on cluster}} modify setting exclude_materialize_skip_indexes_on_merge = '{{late indexes}}';
alter table {{local events_m}} {{on cluster}} modify setting exclude_materialize_skip_indexes_on_merge = '{{late indexes}}';
alter table {{local events_l}} {{on cluster}} modify setting exclude_materialize_skip_indexes_on_merge = '{{late indexes}}';
