-- The SHA-256 of the file of a table, so that files of configuration are compared without it. Rows of before have none.
alter table lookup_tables add column sha256 text;
