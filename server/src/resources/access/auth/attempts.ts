import { isIPv6 } from 'node:net'
import { Failure } from '../../../kernel/errors.ts'
import { plainAddress } from '../../../kernel/networks.ts'
import { Secret } from '../../../kernel/secret.ts'
import type { World } from '../../../world.ts'
import { countAttempts, deleteAttempts, deleteOldAttempts, uncountAttempt } from './rows.ts'

/** The delays of one kind of subject: the first attempts of a window are free, then the delay doubles up to a maximum. */
type SlowdownPolicy = { windowMs: number; free: number; firstMs: number; mostMs: number; refusedBeyond: number }

const MINUTE_MS = 60_000
/** An account is slowed down but never locked. Only a network address with too many attempts is refused, until its window ends. */
export const slowdownPolicies = {
  account: { windowMs: 60 * MINUTE_MS, free: 10, firstMs: 500, mostMs: 8_000, refusedBeyond: Number.POSITIVE_INFINITY },
  address: { windowMs: 15 * MINUTE_MS, free: 20, firstMs: 250, mostMs: 4_000, refusedBeyond: 100 },
  all: { windowMs: MINUTE_MS, free: 1_000, firstMs: 100, mostMs: 2_000, refusedBeyond: Number.POSITIVE_INFINITY },
} as const satisfies Record<string, SlowdownPolicy>

type SubjectKind = keyof typeof slowdownPolicies
const kinds: readonly SubjectKind[] = ['account', 'address', 'all']

export type AttemptCount = { kind: SubjectKind; failures: number; untilMs: number }
export type AttemptDecision = { kind: 'wait'; ms: number } | { kind: 'refuse'; retryAfterMs: number }

/** Decides the delay of an attempt, or its refusal, from the counts that include it. */
export function decideAttempt(counts: readonly AttemptCount[], nowMs: number): AttemptDecision {
  const refusing = counts.find(({ kind, failures }) => failures > slowdownPolicies[kind].refusedBeyond)
  if (refusing) return { kind: 'refuse', retryAfterMs: Math.max(0, refusing.untilMs - nowMs) }
  return { kind: 'wait', ms: Math.max(0, ...counts.map(waitOf)) }
}

function waitOf({ kind, failures }: AttemptCount): number {
  const { free, firstMs, mostMs } = slowdownPolicies[kind]
  return failures <= free ? 0 : Math.min(mostMs, firstMs * 2 ** (failures - free - 1))
}

/** The part of an address that one subscriber cannot change: an IPv4 address, or 64 bits of IPv6. */
export function networkOf(address: string): string {
  const plain = plainAddress(address)
  if (!isIPv6(plain)) return plain
  const [head = '', tail = ''] = plain.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === '' ? [] : tail.split(':')
  const zeros = plain.includes('::') ? Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0') : []
  const groups = [...left, ...zeros, ...right].slice(0, 4)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}

type AttemptWorld = Pick<World, 'meta' | 'vault' | 'clock'>

/** Counts as failed until marked otherwise, so that concurrent attempts cannot get past the limit. */
export type LoginAttempt = { succeeded(): Promise<void>; withdrawn(): Promise<void> }

/** Counts an attempt on an account from an address, over all processes, and delays or refuses it. Without an account, it is a sign-on at a provider. */
export async function beginAttempt(world: AttemptWorld, account: string | undefined, address: string): Promise<LoginAttempt> {
  const nowMs = world.clock.nowMs()
  const subjects = subjectsOf(world, account, address, nowMs)
  const rows = await countAttempts(world.meta, subjects, nowMs)
  const counts = subjects.flatMap(({ kind, subject }) => {
    const row = rows.find((candidate) => candidate.subject.equals(subject))
    return row ? [{ kind, failures: row.failures, untilMs: row.until_ms }] : []
  })
  const verdict = decideAttempt(counts, nowMs)
  if (verdict.kind === 'refuse') {
    // Nothing was tried, so nothing has failed: else a crowd of good logins from one address would shut it out for a whole window.
    await uncount(world, subjects)
    throw tooMany(verdict.retryAfterMs)
  }
  if (verdict.ms > 0) await world.clock.sleep(verdict.ms)
  return {
    succeeded: async () => {
      for (const { kind, subject } of subjects) if (kind === 'account') await deleteAttempts(world.meta, subject)
      await uncount(
        world,
        subjects.filter(({ kind }) => kind !== 'account'),
      )
      await deleteOldAttempts(world.meta, nowMs)
    },
    withdrawn: () => uncount(world, subjects),
  }
}

/** Takes back an attempt that began with an earlier request from this address. */
export async function laterSucceeded(world: AttemptWorld, address: string): Promise<void> {
  const nowMs = world.clock.nowMs()
  await uncount(world, subjectsOf(world, undefined, address, nowMs))
  await deleteOldAttempts(world.meta, nowMs)
}

type AttemptSubject = { kind: SubjectKind; subject: Buffer; untilMs: number }

function subjectsOf({ vault }: AttemptWorld, account: string | undefined, address: string, nowMs: number): AttemptSubject[] {
  const names: Record<SubjectKind, string | undefined> = { account, address: networkOf(address), all: '' }
  return kinds.flatMap((kind) => {
    const name = names[kind]
    if (name === undefined) return []
    return [{ kind, subject: vault.hashOf('attempt', new Secret(`${kind} ${name}`)), untilMs: nowMs + slowdownPolicies[kind].windowMs }]
  })
}

async function uncount({ meta }: AttemptWorld, subjects: readonly AttemptSubject[]): Promise<void> {
  for (const { subject } of subjects) await uncountAttempt(meta, subject)
}

function tooMany(retryAfterMs: number): Failure {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000))
  return new Failure(429, `too many logins from this address that failed or are under way; try again in ${seconds} s`, {
    headers: { 'retry-after': String(seconds) },
  })
}
