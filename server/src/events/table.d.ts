/** A Column of the events tables; codecs were chosen by measurement, and unused slots compress to nothing. */
export type Column = {
    name: string;
    type: string;
    codec: string;
};
/** The classes of events tables differ in their number of slots only; a dataset gets its class with its first batch, since unused slots cost time. */
export declare const tableClasses: {
    readonly s: {
        readonly table: "events_s";
        readonly cSlots: 8;
        readonly sSlots: 8;
    };
    readonly m: {
        readonly table: "events_m";
        readonly cSlots: 24;
        readonly sSlots: 24;
    };
    readonly l: {
        readonly table: "events_l";
        readonly cSlots: 64;
        readonly sSlots: 48;
    };
};
export type TableClass = keyof typeof tableClasses;
export declare const tableClassNames: readonly TableClass[];
/** severities are what `sev` may be, from none to fatal, with their stored numbers. */
export declare const severities: {
    readonly none: 0;
    readonly trace: 1;
    readonly debug: 2;
    readonly info: 3;
    readonly warn: 4;
    readonly error: 5;
    readonly fatal: 6;
};
/**
 * fixedColumns are the columns that every events table has, before its slots.
 * - `org_id` is the organisation's number; the wall between organisations stands on it (engine-config.ts).
 * - `ts` is the time of the event in nanoseconds since 1970; the days of partitions are those of UTC.
 * - `seq` is unique in the deployment and rises whatever the clock does.
 * - `skeleton` is the hash of the message without its variable parts, 0 for none; patterns are groups of it.
 * - `post` identifies the post that brought the event, 0 for a post without identity; it is there exactly when the event is.
 * - `shape` is the line with its values cut out, '' when `raw` holds the line; `raw` is '' when shape and slots give it back.
 * - `more` holds the keys for which no slot was left.
 */
export declare const fixedColumns: readonly Column[];
/** slotColumns are `c0`… for values that repeat and `s0`… for the rest. */
export declare const slotColumns: (tableClass: TableClass) => readonly Column[];
export declare const columns: (tableClass: TableClass) => readonly Column[];
/**
 * tokensOf is the expression of the one index over all values. A query is served by the index only when it says exactly this, as in
 * `has(<tokensOf>, 'word')` with the word in lower case.
 */
export declare const tokensOf: (tableClass: TableClass) => string;
/** SORT_KEY, PARTITION_KEY and SHARD_KEY of every events table; a shard key that moves on with `seq` spreads a large dataset. */
export declare const SORT_KEY = "(log_id, ts, seq)";
export declare const PARTITION_KEY = "toDate(ts)";
export declare const SHARD_KEY = "cityHash64(log_id, intDiv(seq, 1000000))";
/**
 * tableSettings hold for every table of the event store, not only for events: each of them was found necessary by cutting the power under
 * load, and removing one needs a new such run (test/power-cut.ts).
 */
export declare const tableSettings: {
    readonly fsync_after_insert: 1;
    readonly fsync_part_directory: 1;
    readonly min_rows_to_fsync_after_merge: 1;
    readonly min_compressed_bytes_to_fsync_after_merge: 1;
    readonly old_parts_lifetime: 480;
    readonly max_suspicious_broken_parts: 1000000;
    readonly max_suspicious_broken_parts_bytes: 1000000000000;
    readonly non_replicated_deduplication_window: 10000;
};
/** replicatedSettings come on top where tables are replicated. */
export declare const replicatedSettings: {
    readonly min_compressed_bytes_to_fsync_after_fetch: 1;
    readonly replicated_deduplication_window: 10000;
};
/** localTable is the table that an insert goes to: in a cluster the share of the node spoken to, while reads go to the table of the plain name. */
export declare const localTable: (table: string, cluster: string | undefined) => string;
