-- Families of message patterns. Ids are 16 hex digits; words hold U+0001 where a pattern has a variable part. A pattern never leaves its family,
-- and a family is never merged or deleted before its dataset. version grows with every decision, so that a process reads only what is new.
create table pattern_catalogs (
  org_id uuid not null references organisations (id),
  log_id uuid primary key references datasets (id) on delete cascade,
  version int not null
);

create table pattern_families (
  org_id uuid not null references organisations (id),
  log_id uuid not null references pattern_catalogs (log_id) on delete cascade,
  id text not null,
  -- Only patterns of one frame can be one family: the number of words, and where signs stand.
  frame text not null,
  words text[] not null,
  age int not null,
  primary key (log_id, id)
);
create index pattern_families_by_frame on pattern_families (log_id, frame);

create table pattern_members (
  org_id uuid not null references organisations (id),
  log_id uuid not null references pattern_catalogs (log_id) on delete cascade,
  pattern text not null,
  frame text not null,
  -- words are kept until the pattern has a family.
  words text[],
  family text,
  version int not null,
  primary key (log_id, pattern),
  foreign key (log_id, family) references pattern_families (log_id, id),
  check ((words is null) = (family is not null))
);
create index pattern_members_by_version on pattern_members (log_id, version);
create index pattern_members_single on pattern_members (log_id, frame, version) where family is null;
