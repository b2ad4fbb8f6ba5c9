create table sso_idps (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  name text not null,
  identifiers text[] not null,
  issuer_url text not null,
  client_id text not null,
  -- client_secret is encrypted.
  client_secret bytea not null,
  attribute_mappings jsonb not null,
  scopes text not null,
  default_roles text[] not null,
  is_required boolean not null,
  -- The user who may still log in with a password where the provider is required. It stays when the user is deleted.
  local_administrator uuid,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb,
  unique (org_id, name)
);
select watch_changes('sso_idps');

create table sso_mappings (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  -- Null: for every provider of the organization.
  idp text,
  provider_key text not null,
  provider_value text not null,
  assign_attr text not null,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb,
  foreign key (org_id, idp) references sso_idps (org_id, name) on delete cascade
);
create index sso_mappings_of on sso_mappings (org_id);
select watch_changes('sso_mappings');

-- sso_identities connects the subject of a provider with a user.
create table sso_identities (
  org_id uuid not null references organisations (id),
  idp_id uuid not null references sso_idps (id) on delete cascade,
  subject text not null,
  user_id uuid not null references users (id) on delete cascade,
  primary key (idp_id, subject)
);
create index sso_identities_of on sso_identities (user_id);

-- sso_logins holds logins that wait for the answer of a provider. State and browser are keyed hashes.
create table sso_logins (
  state_hash bytea primary key,
  browser_hash bytea not null,
  org_id uuid not null references organisations (id),
  idp_id uuid not null references sso_idps (id) on delete cascade,
  redirect_uri text not null,
  expires_at bigint not null
);
create index sso_logins_by_end on sso_logins (expires_at);
