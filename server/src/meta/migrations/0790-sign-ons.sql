-- sso_sign_ons has what is needed to ask a provider again about a sign-on, and to end its session there. Its sessions end with it.
create table sso_sign_ons (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  idp_id uuid not null references sso_idps (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  subject text not null,
  -- REFRESH, ACCESS, or null if the provider cannot be asked. The token and the hint for a logout are encrypted.
  token_type text,
  token bytea,
  token_ends_at bigint,
  hint bytea,
  checked_at bigint not null,
  -- The checks without an answer since the last one that had one.
  failures int not null
);
create index sso_sign_ons_due on sso_sign_ons (idp_id, checked_at) where token is not null;
create index sso_sign_ons_of on sso_sign_ons (user_id);

alter table sessions add column sign_on_id uuid references sso_sign_ons (id) on delete cascade;
create index sessions_by_sign_on on sessions (sign_on_id) where sign_on_id is not null;

-- How long a session lasts at most about which the provider cannot be asked; null: as long as its token.
alter table sso_idps add column session_minutes int;
alter table sso_idps add column deactivate_refused boolean not null default false;
alter table sso_idps alter column deactivate_refused drop default;

-- When the user was deactivated because the provider refused them. They come back by signing on unless somebody has changed them since.
alter table sso_identities add column deactivated_at bigint;
