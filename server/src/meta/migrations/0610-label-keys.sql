-- Attributes of single events, such as the fields of the HTTP event collector, are no labels of streams. The receiver that stores the first event
-- with a key knows. Keys stored before count as labels; the service knows the names that it sets itself.
alter table slots add column of_events boolean not null default false;
