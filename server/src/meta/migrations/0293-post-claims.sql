-- Posts with an idempotency key that are stored, or are being stored and by which process, so that only one process stores a post. Rows are deleted when
-- they are older than idempotency keys are remembered. These tables are not cached, so changes are not notified.
create table post_claims (
  -- org_number, log_id and post identify a post as in the event store.
  org_number int not null,
  log_id uuid not null,
  post bigint not null,
  body_hash bigint not null,
  -- owner is the process that is storing the post; null for none.
  owner uuid,
  is_stored boolean not null default false,
  claimed_at bigint not null,
  primary key (org_number, log_id, post)
) with (fillfactor = 80);
create index post_claims_by_age on post_claims (claimed_at);

-- A process is an owner while it renews its lease in time; afterwards it becomes a new owner. Times are those of this store.
create table post_owners (
  id uuid primary key,
  -- writer is the prefix of the owner's insert ids in the event store.
  writer uuid not null,
  alive_until bigint not null
);
