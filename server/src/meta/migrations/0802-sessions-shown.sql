-- How and from where a session began; null for those of earlier versions.
alter table sessions add column method text;
alter table sessions add column address text;
alter table sessions add column user_agent text;

-- When a session was used last, to the minute. The rows of sessions themselves do not change with their use, so that no process drops what it has cached.
create table session_uses (
  session_id uuid primary key references sessions (id) on delete cascade,
  used_at bigint not null,
  address text not null
);
