-- Addresses end up in many logs, so a key works as a parameter of one only where its owner allows it.
alter table api_keys add column allowed_in_address boolean not null default false;
