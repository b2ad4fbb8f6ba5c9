-- The length of a lease distinguishes a lease that a wrong clock wrote (it ends later than its length allows) from a long one. Processes may use
-- different lengths.
alter table jobs add column lease_ms bigint;
alter table monitor_states add column lease_ms bigint;
