-- Of a SAML provider, issuer_url is the entity id of the provider, client_id that of the service, and client_secret the private key of the service.
alter table sso_idps add column provider_type text not null default 'OIDC';
alter table sso_idps add column accept_idp_initiated boolean not null default false;
-- The SAML metadata of the provider, and the certificate of the service for it.
alter table sso_idps add column meta_cert text;
alter table sso_idps add column certificate text;
alter table sso_idps alter column provider_type drop default;
alter table sso_idps alter column accept_idp_initiated drop default;

-- A SAML provider sends its answer to the service, before the browser fetches it with a code. The code is a keyed hash.
alter table sso_logins add column code_hash bytea;
alter table sso_logins add column answer jsonb;

-- sso_messages has the ids of messages of providers that count once, as hashes, until the messages expire.
create table sso_messages (
  org_id uuid not null references organisations (id),
  idp_id uuid not null references sso_idps (id) on delete cascade,
  id_hash bytea not null,
  expires_at bigint not null,
  primary key (idp_id, id_hash)
);
create index sso_messages_by_end on sso_messages (expires_at);

-- The provider of a session, with what the provider calls the person and the session.
alter table sessions add column idp_id uuid references sso_idps (id) on delete set null;
alter table sessions add column subject text;
alter table sessions add column provider_session text;
create index sessions_by_subject on sessions (idp_id, subject) where idp_id is not null;
create index sessions_by_provider_session on sessions (idp_id, provider_session) where provider_session is not null;
