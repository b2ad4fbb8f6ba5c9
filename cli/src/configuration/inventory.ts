import { ApiFailure } from '@dendro/api'
import type { ConfigFields, ConfigService, Kind, ReferenceKind, Stored } from './kind.ts'

/** The names of the objects that references may name. */
export type Names = {
  nameOf(id: string): string | undefined
  idsOf(name: string): readonly string[]
  /** Why they cannot be listed. */
  unreadable?: string
}

/** An object of the service in the form of a document: with names, and with the defaults of its kind. */
export type NamedObject = { stored: Stored; name: string; fields: ConfigFields }

/** The configuration of the service. Each list is requested once, and only when it is needed. */
export type Inventory = {
  objects(kind: Kind): Promise<readonly NamedObject[]>
  names(kind: ReferenceKind): Promise<Names>
}

export function openInventory(service: ConfigService, kinds: readonly Kind[]): Inventory {
  const lists = new Map<string, Promise<readonly Stored[]>>()
  const named = new Map<ReferenceKind, Promise<Names>>()
  const objects = new Map<string, Promise<readonly NamedObject[]>>()
  const once = <K, T>(known: Map<K, Promise<T>>, key: K, load: () => Promise<T>): Promise<T> => {
    const promise = known.get(key) ?? load()
    known.set(key, promise)
    return promise
  }
  const storedOf = (kind: Kind) => once(lists, kind.name, () => kind.load(service))
  const loadNames = async (reference: ReferenceKind): Promise<Names> => {
    try {
      const targets = kinds.filter(({ referredAs }) => referredAs?.kind === reference)
      const listed = await Promise.all(
        targets.map(async (kind) =>
          (await storedOf(kind)).map(({ id, fields }) => ({ id, name: `${kind.referredAs?.prefix}${kind.nameOf(fields)}` })),
        ),
      )
      return namesOf([...listed.flat(), ...(await namesElsewhere(reference, service))])
    } catch (thrown) {
      if (!(thrown instanceof ApiFailure) || thrown.status !== 403) throw thrown
      return { ...namesOf([]), unreadable: thrown.details }
    }
  }
  const names = (reference: ReferenceKind) => once(named, reference, () => loadNames(reference))
  return {
    names,
    objects: (kind) =>
      once(objects, kind.name, async () => {
        const stored = await storedOf(kind)
        const known = new Map(await Promise.all((kind.refersTo ?? []).map(async (one) => [one, await names(one)] as const)))
        return stored.map((one) => {
          const { fields } = kind.check(one.fields)
          const withNames = kind.withReferences?.(fields, (reference, id) => known.get(reference)?.nameOf(id) ?? id) ?? fields
          return { stored: one, name: kind.nameOf(withNames), fields: withNames }
        })
      }),
  }
}

async function namesElsewhere(reference: ReferenceKind, { client, signal }: ConfigService): Promise<{ id: string; name: string }[]> {
  switch (reference) {
    case 'user':
      return (await client.users.list({ signal })).users.map(({ id, email }) => ({ id, name: email }))
    case 'group':
      return (await client.groups.list({ signal })).groups.map(({ id, name }) => ({ id, name }))
    case 'api_key':
      return (await client.apiKeys.list({ signal })).api_keys.map(({ id, name }) => ({ id, name }))
    default:
      return []
  }
}

/** A name that several objects have identifies none of them; their ids do. */
function namesOf(listed: readonly { id: string; name: string }[]): Names {
  const byName = new Map<string, string[]>()
  for (const { id, name } of listed) byName.set(name, [...(byName.get(name) ?? []), id])
  const byId = new Map(listed.filter(({ name }) => name !== '' && byName.get(name)?.length === 1).map(({ id, name }) => [id, name]))
  return { nameOf: (id) => byId.get(id.toLowerCase()) ?? byId.get(id), idsOf: (name) => byName.get(name) ?? [] }
}
