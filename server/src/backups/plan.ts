import type { BackupManifest, FoundBackup } from './manifest.ts'

/** After this many incremental backups a complete one follows, so that old backups can be removed and a restore needs few. */
const INCREMENTAL_MAX = 6
/** Another process may still be writing a younger one. */
const UNFINISHED_MS = 86_400_000

type Own = { backups: readonly FoundBackup[]; masterKey: string }

/** The complete backups of this deployment, oldest first. Other deployments may keep theirs in the same place. */
export const ownBackups = ({ backups, masterKey }: Own): BackupManifest[] =>
  backups.flatMap((found) => (found.kind === 'complete' && found.manifest.master_key === masterKey ? [found.manifest] : []))

/**
 * The latest backup of this deployment whose metadata is not newer than a time. Without any of its own it is one of another deployment, so that the refusal
 * names the master key.
 */
export function latestBackup(own: Own, atMs = Number.POSITIVE_INFINITY): BackupManifest | undefined {
  const all = own.backups.flatMap((found) => (found.kind === 'complete' ? [found.manifest] : []))
  const mine = ownBackups(own)
  return (mine.length > 0 ? mine : all).findLast(({ made_at_ms }) => made_at_ms <= atMs)
}

/** The backup that the next one builds upon, or null for a complete one. */
export function nextBase(own: Own, database: string): string | null {
  const backups = ownBackups(own)
  const latest = backups.at(-1)
  if (!latest || latest.events.database !== database) return null
  let length = 0
  for (let at: BackupManifest | undefined = latest; at?.base; length += 1) {
    const { base }: BackupManifest = at
    at = backups.find(({ name }) => name === base)
    if (!at) return null
  }
  return length < INCREMENTAL_MAX ? latest.name : null
}

/**
 * The folders to remove: backups that are older than `keepMs` and that no kept one builds upon, never the latest, and what interrupted backups of this deployment
 * have left.
 */
export function removable(own: Own, nowMs: number, keepMs: number | undefined): string[] {
  const { backups, masterKey } = own
  const complete = ownBackups(own)
  const kept = new Set(complete.filter(({ made_at_ms }) => keepMs === undefined || nowMs - made_at_ms < keepMs).map(({ name }) => name))
  const latest = complete.at(-1)
  if (latest) kept.add(latest.name)
  // A base is always older, so that one pass from the latest on finds all of them.
  for (const { name, base } of complete.toReversed()) if (kept.has(name) && base !== null) kept.add(base)
  const remains = backups.flatMap((found) =>
    found.kind === 'unfinished' && found.masterKey === masterKey && nowMs - found.startedMs > UNFINISHED_MS ? [found.name] : [],
  )
  // The latest first, so that no backup is ever without its base.
  return [
    ...remains,
    ...complete
      .map(({ name }) => name)
      .filter((name) => !kept.has(name))
      .toReversed(),
  ]
}
