-- The position of a live tail is stored for all processes, so that any of them can continue it. `turn` rises with every change of the position: when two
-- polls read events at once, one finds another turn and reads again. A tail without a position was started by a process of the previous version.
alter table live_tails
  add column began_at bigint,
  add column turn bigint not null default 0,
  add column position bytea;
