-- Addresses from which a key may be used; none: from anywhere.
alter table api_keys add column allowed_addresses text[] not null default '{}';
-- The secret before the last rotation works until previous_expires_at, in Unix seconds.
alter table api_keys add column previous_hash bytea unique;
alter table api_keys add column previous_expires_at bigint;
-- The address of the last use, and when the secret before the rotation was used last.
alter table api_key_uses add column address text;
alter table api_key_uses add column previous_used_at bigint;
