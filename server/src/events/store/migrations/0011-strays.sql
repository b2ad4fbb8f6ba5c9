-- Whether events have keys beside the columns, so that questions about keys of which none lies there need not look.
alter table {{local events_s}} {{on cluster}} add index if not exists strays length(more) type minmax granularity 1;
alter table {{local events_m}} {{on cluster}} add index if not exists strays length(more) type minmax granularity 1;
alter table {{local events_l}} {{on cluster}} add index if not exists strays length(more) type minmax granularity 1;
