-- When the identity provider refused the user of a personal key; null again once the user has signed on.
alter table api_keys add column suspended_at bigint;
