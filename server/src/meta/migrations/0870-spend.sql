-- What the stored lines of an organization cost, and what it may spend in a month. An absent price or budget is null.
create table spend_settings (
  org_id uuid primary key references organisations (id),
  price jsonb,
  budget jsonb,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb
);
select watch_changes('spend_settings');
