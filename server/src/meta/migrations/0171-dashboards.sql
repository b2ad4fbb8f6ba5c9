create table widgets (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  name text not null,
  description text,
  type text not null,
  -- A widget has either metrics or other widgets, in order. Widgets are nested without cycles.
  metric_ids uuid[] not null,
  widget_ids uuid[] not null,
  layout jsonb not null,
  aux jsonb,
  tags jsonb not null,
  template jsonb,
  -- made_for is the dashboard or widget with which it was created from a template.
  made_for uuid,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb,
  check (cardinality(metric_ids) = 0 or cardinality(widget_ids) = 0)
);
create index widgets_of on widgets (org_id);
select watch_changes('widgets');

create table dashboards (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  name text not null,
  description text,
  widget_ids uuid[] not null,
  layout jsonb not null,
  tags jsonb not null,
  template jsonb,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb
);
create index dashboards_of on dashboards (org_id);
select watch_changes('dashboards');

alter table metric_definitions add column made_for uuid;
