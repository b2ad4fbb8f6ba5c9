-- The migrations that were applied. Every node of a cluster has the whole list.
create table if not exists migrations {{on cluster}} (
  number UInt32,
  name String,
  applied_at DateTime64(3, 'UTC')
)
engine = {{engine everywhere migrations}}
order by number
settings {{settings}};
