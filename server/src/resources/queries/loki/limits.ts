import { SERIES_MAX } from './series.ts'

/** The largest number of lines of an answer. */
export const LINES_MAX = 5_000
/** The largest number of series of volumes. */
export const VOLUMES_MAX = 5_000

/** The version whose API the replies follow. Clients choose their requests by it. */
export const VERSION = '3.0.0'

/** What screens that explore logs need to know before they ask. */
export const screenLimits = {
  limits: {
    discover_log_levels: true,
    discover_service_name: [],
    max_entries_limit_per_query: LINES_MAX,
    max_query_series: SERIES_MAX,
    metric_aggregation_enabled: false,
    volume_enabled: true,
    volume_max_series: VOLUMES_MAX,
  },
  pattern_ingester_enabled: true,
  version: VERSION,
}
