-- How far a live tail has come stands where every process finds it, so that any of them can go on. `turn` rises with every change of the position: of
-- two that took events at once one finds another turn, and takes anew. A tail without a position was begun by a process of the version before.
alter table live_tails
  add column began_at bigint,
  add column turn bigint not null default 0,
  add column position bytea;
