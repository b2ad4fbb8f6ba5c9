-- Whether events have overflow keys, so that queries on other keys can skip the overflow map.
alter table {{local events_s}} {{on cluster}} add index if not exists strays length(more) type minmax granularity 1;
alter table {{local events_m}} {{on cluster}} add index if not exists strays length(more) type minmax granularity 1;
alter table {{local events_l}} {{on cluster}} add index if not exists strays length(more) type minmax granularity 1;
