-- A key with a user is personal: it acts as that user, and its roles only limit what it may do.
alter table api_keys add column user_id uuid references users (id) on delete cascade;
create index api_keys_by_user on api_keys (user_id) where user_id is not null;
