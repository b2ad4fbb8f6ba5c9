-- The events that the last turns of a stream delivered, so that a client that reconnects gets those that it does not have.
alter table live_tails add column delivered bytea;
