-- A test of an unsaved monitor belongs to no monitor. Its row is deleted when the test is done.
alter table monitor_notifications alter column monitor_id drop not null;
-- briefing is the data looked up for the message, null before. It is looked up once, so that every attempt sends the same.
alter table monitor_notifications add column briefing jsonb;
-- tries are the results of the attempts: time, status, and the cause of a failure.
alter table monitor_notifications add column tries jsonb not null default '[]';
create index monitor_notifications_waiting on monitor_notifications (alert_id) where state = 'IN_PROGRESS';
