-- Claims of sequence numbers (seq.ts): from `first` to `next`, exclusive. Rows are only added; old partitions are dropped.
create table if not exists seq_claims {{on cluster}} (
  claim UInt64,
  owner UUID,
  first UInt64,
  next UInt64
)
engine = {{engine everywhere seq_claims}}
partition by intDiv(claim, 100000)
order by claim
settings {{settings}};

-- Sequence numbers rise with arrival, so with their bounds per granule recent events are found without reading old ones.
alter table {{local events_s}} {{on cluster}} add index if not exists seq_bounds seq type minmax granularity 1;
alter table {{local events_m}} {{on cluster}} add index if not exists seq_bounds seq type minmax granularity 1;
alter table {{local events_l}} {{on cluster}} add index if not exists seq_bounds seq type minmax granularity 1;
