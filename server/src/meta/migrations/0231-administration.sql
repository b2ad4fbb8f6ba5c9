-- The customer record of a deployment: one row, created with the first change.
create table customers (
  org_id uuid primary key references organisations (id),
  customer_name text not null,
  billing_emails jsonb not null,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb
);
select watch_changes('customers');

create table encryption_keys (
  org_id uuid not null references organisations (id),
  id text not null,
  name text not null,
  provider text not null,
  status text not null,
  alias_arn text not null,
  region text,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb,
  primary key (org_id, id)
);
select watch_changes('encryption_keys');

-- Statements of source code. They are many and read one at a time, so they are not cached and changes are not notified.
create table statement_sets (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  project_id text not null,
  version text not null,
  repo_url text not null,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb,
  unique (org_id, project_id, version)
);
create table statements (
  org_id uuid not null references organisations (id),
  set_id uuid not null references statement_sets (id) on delete cascade,
  id text not null,
  message text not null,
  file text not null,
  line bigint not null,
  primary key (set_id, id)
);
create index statements_by_id on statements (org_id, id);
