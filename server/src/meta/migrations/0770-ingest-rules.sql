-- Rules that drop, sample or redact events before they are stored, in the order of `position`.
create table ingest_rules (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  position int not null,
  version int not null,
  name text not null,
  description text,
  enabled boolean not null,
  -- Ids of datasets. A selector takes precedence.
  source_ids uuid[],
  source_expr text,
  condition text not null,
  action jsonb not null,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb
);
create index ingest_rules_of on ingest_rules (org_id, position);
select watch_changes('ingest_rules');

-- What rules were after each change, as the API shows them.
create table ingest_rule_versions (
  org_id uuid not null references organisations (id),
  rule_id uuid not null references ingest_rules (id) on delete cascade,
  version int not null,
  rule jsonb not null,
  primary key (rule_id, version)
);
