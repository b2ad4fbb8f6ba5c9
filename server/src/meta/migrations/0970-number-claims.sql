-- Blocks of sequence numbers from `first` to `next`, exclusive, that processes on a cluster claimed while too few of its nodes answered to claim them there
-- (meta/number-claims.ts). Rows are only added; those of earlier days are deleted. The table is not cached, so changes are not notified.
create table number_claims (
  first bigint primary key,
  next bigint not null
);
