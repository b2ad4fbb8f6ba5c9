-- The overflow keys per granule, so that queries on a rare key, and those that ask whether a key overflows, read only where it does.
alter table {{local events_s}} {{on cluster}} add index if not exists names mapKeys(more) type bloom_filter(0.01) granularity 1;
alter table {{local events_m}} {{on cluster}} add index if not exists names mapKeys(more) type bloom_filter(0.01) granularity 1;
alter table {{local events_l}} {{on cluster}} add index if not exists names mapKeys(more) type bloom_filter(0.01) granularity 1;
