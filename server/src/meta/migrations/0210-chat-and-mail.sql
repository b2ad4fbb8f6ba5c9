create table chat_workspaces (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  name text not null,
  -- Exactly one of the two encrypted secrets is set.
  token bytea,
  webhook_url bytea,
  api_url text,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb
);
create index chat_workspaces_of on chat_workspaces (org_id);
select watch_changes('chat_workspaces');

create table chat_integrations (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  name text not null,
  channels jsonb not null,
  workspace_id uuid not null references chat_workspaces (id),
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb
);
create index chat_integrations_of on chat_integrations (org_id);
select watch_changes('chat_integrations');

create table mail_templates (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  name text not null,
  payload text not null,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb
);
create index mail_templates_of on mail_templates (org_id);
select watch_changes('mail_templates');
