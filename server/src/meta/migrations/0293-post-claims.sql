-- Which posts with an identity are stored, or are being stored and by whom, so that of several processes one stores a post. Rows go when they are
-- older than the time for which identities are remembered. Nothing of these tables is cached, so nobody is told of their changes.
create table post_claims (
  -- org_number, log_id and post name a post as the event store does.
  org_number int not null,
  log_id uuid not null,
  post bigint not null,
  body_hash bigint not null,
  -- owner stores the post just now; null when nobody does.
  owner uuid,
  is_stored boolean not null default false,
  claimed_at bigint not null,
  primary key (org_number, log_id, post)
) with (fillfactor = 80);
create index post_claims_by_age on post_claims (claimed_at);

-- A process is an owner as long as it says so again in time; after that it is a new one. Times are those of this store.
create table post_owners (
  id uuid primary key,
  -- writer begins the name of each of its inserts in the event store.
  writer uuid not null,
  alive_until bigint not null
);
