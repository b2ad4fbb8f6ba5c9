import type { BucketLocation } from '../../files/location.ts'
import { bucketDisk } from './bucket-disk.ts'

/** The bucket for events that have become old. */
export type ColdStorage = { location: BucketLocation }

/** The storage policy of the tables of events in the embedded engine. */
export const TIERED_POLICY = 'tiered'
/** The volume of a storage policy for old events, in the embedded engine and on a server. */
export const COLD_VOLUME = 'cold'
/** The disks of that volume, as a part of a statement. */
export const COLD_DISKS = `(select arrayJoin(disks) from system.storage_policies where volume_name = '${COLD_VOLUME}')`
/** The disk in the directory of the store. */
const LOCAL_DISK = 'default'
/** Which events are read: those in the bucket cannot be while it is away. */
export type ReadTiers = 'all' | 'local disk'
/** The end of a condition that restricts a statement to the events of these tiers. */
export const andTiers = (tiers: ReadTiers): string => (tiers === 'all' ? '' : `and _disk_name = '${LOCAL_DISK}'`)
/** The names of the bucket's disk, and of the one in front of it that keeps what was read and written. */
const BUCKET_DISK = 'cold_bucket'
const COLD_DISK = 'cold'
/** A path that is not below the directory of the store, or not relative, is refused by the engine. */
const CACHE_DIR = 'cold_cache/'
/** Enough for the descriptions of 20,000 parts, and for what deletions read. */
const CACHE_BYTES = 2 ** 32
/** Where the engine keeps which objects a file in the bucket consists of, below the directory of the store. */
export const COLD_METADATA_DIR = `disks/${BUCKET_DISK}`

/** A read from a bucket that hangs ends within ten seconds. */
const PATIENCE = { connectMs: 2_000, requestMs: 3_000, tries: 1 }

/**
 * The disks of cold storage. The cache keeps what describes the parts, which the engine reads when it loads them (tiers/descriptions.ts): without that it
 * does not start while the bucket is away. What is read twice is not displaced by what is read once.
 */
export function coldDisks(cold: ColdStorage): Record<string, Record<string, string | number>> {
  return {
    [BUCKET_DISK]: { ...bucketDisk(cold.location, 'local', PATIENCE), s3_max_unexpected_write_error_retries: PATIENCE.tries },
    [COLD_DISK]: {
      type: 'cache',
      disk: BUCKET_DISK,
      path: CACHE_DIR,
      max_size: CACHE_BYTES,
      cache_policy: 'SLRU',
    },
  }
}

/**
 * Reads of events do not fill the cache: those that need what another one is fetching would wait for it, one after the other, for as long as the bucket
 * hangs. And so nothing displaces the descriptions of parts.
 */
export const COLD_READS = { read_from_filesystem_cache_if_exists_otherwise_bypass_cache: 1 }

/** The volumes of the policy. Without cold storage it has the local disk only, for tables that have had the policy. */
export const tieredVolumes = (isCold: boolean): string =>
  `<${TIERED_POLICY}><volumes><default><disk>${LOCAL_DISK}</disk></default>${
    isCold
      ? `<${COLD_VOLUME}><disk>${COLD_DISK}</disk><perform_ttl_move_on_insert>0</perform_ttl_move_on_insert><prefer_not_to_merge>1</prefer_not_to_merge></${COLD_VOLUME}>`
      : ''
  }</volumes><move_factor>0</move_factor></${TIERED_POLICY}>`
