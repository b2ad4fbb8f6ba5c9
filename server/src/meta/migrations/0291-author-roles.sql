-- author_roles are the author's roles when the monitor was written. The monitor keeps reading with them when the author is deleted, so that policies on
-- those roles still apply. Null for monitors from before this column.
alter table monitors add column author_roles text[];
