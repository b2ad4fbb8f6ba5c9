-- The migrations that were applied and that the version before needs not know. Every node of a cluster has the whole list.
create table if not exists compatible_migrations {{on cluster}} (
  number UInt32,
  name String,
  applied_at DateTime64(3, 'UTC')
)
engine = {{engine everywhere compatible_migrations}}
order by number
settings {{settings}};
