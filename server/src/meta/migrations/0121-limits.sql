-- What an organisation allows itself to take in. `value` is a number of any size that JSON has; scope names the organisation, or a team by a tag.
create table limits (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  category text not null,
  description text,
  value numeric not null,
  unit text not null,
  target text not null,
  scope jsonb not null,
  -- team is the team of the scope, '' for none: two limits of one target and scope would only confuse.
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

-- That a limit was crossed in a window: from then on nothing more is taken under it, by any process, until the window ends or the limit changes.
create table limit_crossings (
  org_id uuid not null references organisations (id),
  limit_id uuid not null references limits (id) on delete cascade,
  window_start_ms bigint not null,
  crossed_at bigint not null,
  primary key (limit_id, window_start_ms)
);
select watch_changes('limit_crossings');
