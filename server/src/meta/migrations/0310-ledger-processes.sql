-- The processes that count what arrives. Each keeps its row alive and deletes it when all that it counted is written: a row that is no longer alive belongs to a
-- process that ended without writing its last counts. Nothing of this table is cached, so nobody is told of its changes.
create table ledger_processes (
  id uuid primary key,
  -- alive_until is a time of this store.
  alive_until bigint not null,
  -- found_gone_at is when a recount first saw that the process is gone, by the clock of the recounting process.
  found_gone_at bigint
);
