-- author_roles are the roles that the author of a monitor had when he wrote it: it goes on reading with them when he is gone, so that what policies
-- hid from him by his roles stays hidden. Null where a monitor was written before they were noted.
alter table monitors add column author_roles text[];
