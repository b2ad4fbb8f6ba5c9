-- Audit records that are not yet events of the system dataset .audit-trail. A row is written with its record and deleted when the event is stored.
create table audit_events_due (
  audit_id uuid primary key references audit (id),
  time bigint not null
);
create index audit_events_due_by_time on audit_events_due (time, audit_id);
insert into audit_events_due (audit_id, time) select id, time from audit;
