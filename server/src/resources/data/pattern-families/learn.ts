import { hashOfPatternId, patternId } from '../../../kernel/pattern-id.ts'
import { nextStep } from '../../../kernel/steps.ts'
import type { Db, Meta } from '../../../meta/meta.ts'
import { decideFamilies } from '../../../patterns/family-decision.ts'
import { formOf } from '../../../patterns/family-form.ts'
import { hashToBigint, maskedHash } from '../../../patterns/skeleton.ts'
import {
  type FamilyRow,
  lockCatalog,
  type MemberRow,
  selectFamilies,
  selectKnown,
  selectSingles,
  updateCatalog,
  upsertFamilies,
  upsertMembers,
} from './rows.ts'

/** A pattern of a dataset and one of its messages. */
export type NewPattern = { readonly pattern: bigint; readonly message: string | undefined }

/** How many patterns of one frame without a family are compared with new ones. */
const SINGLES_MAX = 1_000
/** Objects without a message are not compared. */
const KEYS_FRAME = 'keys'

type Form = { readonly id: string; readonly frame: string; readonly words: readonly string[] }

/**
 * Decides about new patterns of a dataset: each joins a family, makes one with others, or stands for itself. The lock on the catalog
 * decides between processes; the later one finds the decisions of the first.
 */
export async function decideAbout(meta: Meta, orgId: string, logId: string, found: readonly NewPattern[]): Promise<void> {
  const forms: Form[] = []
  for (const { pattern, message } of found) {
    forms.push(formFor(pattern, message))
    if (forms.length % SINGLES_MAX === 0) await nextStep()
  }
  await meta.write(orgId, async (tx) => {
    const version = await lockCatalog(tx, orgId, logId)
    if (version === undefined) return
    const ids = forms.map(({ id }) => id)
    const known = new Set((await selectKnown(tx, logId, ids)).map(({ pattern }) => pattern))
    const fresh = forms.filter(({ id }) => !known.has(id))
    if (fresh.length === 0) return
    const decided = await decide(tx, logId, fresh)
    await upsertFamilies(tx, orgId, logId, decided.families, version + 1)
    await upsertMembers(tx, orgId, logId, decided.members, version + 1)
    await updateCatalog(tx, logId, version + 1)
  })
}

function formFor(pattern: bigint, message: string | undefined): Form {
  const id = patternId(pattern)
  if (message === undefined) return { id, frame: KEYS_FRAME, words: [] }
  const { words, frame } = formOf(message)
  return { id, frame: patternId(hashToBigint(maskedHash(frame))), words }
}

async function decide(tx: Db, logId: string, fresh: readonly Form[]): Promise<{ families: FamilyRow[]; members: MemberRow[] }> {
  const byFrame = Map.groupBy(fresh, ({ frame }) => frame)
  const frames = [...byFrame.keys()].filter((frame) => frame !== KEYS_FRAME)
  const existing = Map.groupBy(await selectFamilies(tx, logId, frames), ({ frame }) => frame)
  const singles = Map.groupBy(await selectSingles(tx, logId, frames, SINGLES_MAX), ({ frame }) => frame)
  const families: FamilyRow[] = []
  const members: MemberRow[] = []
  for (const [frame, own] of byFrame) {
    if (frame === KEYS_FRAME) {
      members.push(...own.map(({ id, words }) => ({ pattern: id, frame, words, family: null })))
      continue
    }
    const before = (singles.get(frame) ?? []).map(({ pattern, words }) => ({ id: pattern, frame, words }))
    const all = new Map([...before, ...own].map((form) => [form.id, form]))
    const decision = decideFamilies(
      (existing.get(frame) ?? []).map(({ id, words }) => ({ id: hashOf(id), words })),
      [...all.values()].map(({ id, words }) => ({ skeleton: hashOf(id), words })),
    )
    families.push(...decision.families.map(({ id, words }) => ({ id: patternId(id), frame, words: [...words] })))
    for (const [pattern, family] of decision.joined)
      members.push({ pattern: patternId(pattern), frame, words: null, family: patternId(family) })
    for (const { id, words } of own) if (!decision.joined.has(hashOf(id))) members.push({ pattern: id, frame, words, family: null })
    await nextStep()
  }
  return { families, members }
}

function hashOf(id: string): bigint {
  const hash = hashOfPatternId(id)
  if (hash === undefined) throw new Error('a stored pattern has an invalid id')
  return hash
}
