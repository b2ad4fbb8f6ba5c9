-- A test of what is not saved yet belongs to no monitor; such a row goes when it is done.
alter table monitor_notifications alter column monitor_id drop not null;
-- briefing is what was looked up for the message, null until then: it is looked up once, so that every try says the same.
alter table monitor_notifications add column briefing jsonb;
-- tries are what became of each: when, with which status, and why it failed.
alter table monitor_notifications add column tries jsonb not null default '[]';
create index monitor_notifications_waiting on monitor_notifications (alert_id) where state = 'IN_PROGRESS';
