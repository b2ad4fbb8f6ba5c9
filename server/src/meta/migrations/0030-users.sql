create table users (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  first_name text not null,
  last_name text not null,
  email text not null,
  -- email_key is the normalized e-mail address. The program computes it, since lower() depends on the locale of the database.
  email_key text not null,
  roles text[] not null,
  password_hash text,
  last_logins jsonb not null default '{}',
  login_methods jsonb not null,
  tags jsonb not null default '{}',
  status text not null,
  invited_at bigint,
  invited_by text,
  accepted_at bigint,
  preferences jsonb not null default '{}',
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb,
  unique (org_id, email_key)
);
create index users_by_email on users (email_key);
select watch_changes('users');

-- invitations holds the one valid link of a user, as a keyed hash. A new one replaces it.
create table invitations (
  org_id uuid not null references organisations (id),
  user_id uuid primary key references users (id) on delete cascade,
  token_hash bytea not null unique,
  created_at bigint not null,
  expires_at bigint not null
);
select watch_changes('invitations');

-- sessions are the valid tokens: a token without its row has ended. org_id is the organization in which the token acts.
create table sessions (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  created_at bigint not null,
  expires_at bigint not null
);
create index sessions_by_user on sessions (user_id);
create index sessions_by_end on sessions (org_id, expires_at);
select watch_changes('sessions');

-- login_attempts counts failed logins by keyed hashes of accounts and network addresses, until the end of a window. It belongs to no organization.
create table login_attempts (
  subject bytea primary key,
  failures int not null,
  until_ms bigint not null
);
create index login_attempts_by_end on login_attempts (until_ms);
