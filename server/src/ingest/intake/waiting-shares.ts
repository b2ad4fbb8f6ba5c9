import type { Tags } from '@dendro/api'
import type { Actor } from '../../http/actor.ts'
import { keepWaitingSpans, type PackedSpans } from '../../resources/data/waiting-spans/waiting-spans.ts'
import { idempotencyNumber } from './idempotency-key.ts'
import type { IntakeWorld } from './intake-world.ts'

/** Events of a dataset whose traces are not decided yet. */
export type WaitingShare = PackedSpans & { readonly tags: Tags }

type SharesOfPost = {
  readonly shares: readonly { readonly logId: string; readonly waiting: readonly WaitingShare[] }[]
  readonly identity: string | undefined
}

/** Keeps the events whose traces are not decided yet, and returns how many they are. A repeated post is kept once. */
export async function keepWaiting(world: IntakeWorld, actor: Actor, receiver: string, { shares, identity }: SharesOfPost): Promise<number> {
  const all = shares.flatMap(({ logId, waiting }) =>
    waiting.map((events, at) => ({
      ...events,
      logId,
      postKey: identity === undefined ? undefined : `${idempotencyNumber(identity, logId)} ${events.ruleId} ${at}`,
    })),
  )
  if (all.length > 0) await keepWaitingSpans(world, actor, receiver, all)
  return all.reduce((sum, { events }) => sum + events, 0)
}
