import type { Inventory } from './inventory.ts'
import type { ConfigService, Send } from './kind.ts'
import { arranged } from './order.ts'
import { type Change, referredTo, resolveReferences } from './plan.ts'
import type { References } from './references.ts'

type Setting = {
  service: ConfigService
  inventory: Inventory
  references: References
  send: Send
  /** Called after each change. */
  onDone(change: Change): void
}

/** The first change that failed; those before it are made, those after it are not. */
export class ChangeFailure extends Error {
  readonly change: Change
  readonly reason: unknown
  readonly done: number

  constructor(change: Change, reason: unknown, done: number) {
    super(`${change.kind.name} ${change.name} failed`, { cause: reason })
    this.name = 'ChangeFailure'
    this.change = change
    this.reason = reason
    this.done = done
  }
}

/** Makes the changes one after another. */
export async function applyChanges(changes: readonly Change[], setting: Setting): Promise<void> {
  const created = new Map<string, string>()
  for (const [done, change] of changes.entries()) {
    try {
      setting.service.signal.throwIfAborted()
      await applyChange(change, setting, created)
    } catch (reason) {
      throw new ChangeFailure(change, reason, done)
    }
    setting.onDone(change)
  }
}

async function applyChange(change: Change, { service, inventory, references, send }: Setting, created: Map<string, string>): Promise<void> {
  const { kind } = change
  if (change.action === 'delete') return kind.remove(service, change.stored, send)
  if (change.action === 'order') {
    const current = (await kind.load(service)).map(({ id, fields }) => ({ id, name: kind.nameOf(fields) }))
    const ids = arranged(current, change.names).map(({ id }) => id)
    return kind.reorder?.(service, ids, send)
  }
  const fields = await resolveReferences(change.document, references, inventory, created)
  if (change.action === 'create') {
    const id = await kind.create(service, fields, send)
    for (const key of referredTo(change)) created.set(key, id)
    return
  }
  await kind.update?.(service, { before: change.stored, fields }, send)
}
