-- Limits on the ingestion of an organization. `value` is any JSON number; scope is the organization, or a team by a tag.
create table limits (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  category text not null,
  description text,
  value numeric not null,
  unit text not null,
  target text not null,
  scope jsonb not null,
  -- team is the team of the scope, '' for none. There is one limit per target and scope.
  team text not null,
  type text not null,
  time_window text not null,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb,
  unique (org_id, category, target, team)
);
select watch_changes('limits');

-- A limit that was exceeded in a window. No process accepts more events under it until the window ends or the limit changes.
create table limit_crossings (
  org_id uuid not null references organisations (id),
  limit_id uuid not null references limits (id) on delete cascade,
  window_start_ms bigint not null,
  crossed_at bigint not null,
  primary key (limit_id, window_start_ms)
);
select watch_changes('limit_crossings');
