-- The second factor of a user who logs in with a password: codes that depend on the time.
create table second_factors (
  org_id uuid not null references organisations (id),
  user_id uuid primary key references users (id) on delete cascade,
  -- secret is encrypted.
  secret bytea not null,
  -- Null until the user has shown a first code; until then, logins do not ask for one.
  confirmed_at bigint,
  -- The newest time step of an accepted code: each code counts once.
  last_step bigint not null default 0,
  -- Keyed hashes of the recovery codes that are left.
  recovery_hashes bytea[] not null default '{}',
  -- Wrong codes of the current window.
  failures int not null default 0,
  failures_until bigint not null default 0
);
