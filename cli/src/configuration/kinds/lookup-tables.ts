import { createHash } from 'node:crypto'
import { type BodyInput, contract, type LookupTable } from '@dendro/api'
import { checkFields } from '../check-fields.ts'
import { type ConfigFields, type Kind, type Problem, pick, textOf, withMember } from '../kind.ts'

type Body = BodyInput<typeof contract.lookupTables.create>

/** Longer files do not fit into the JSON that creates a table. */
const CREATED_CHARS_MAX = 3_000_000
const FILE_BYTES_MAX = 64 * 2 ** 20

export const lookupTableKind: Kind = {
  name: 'lookup_table',
  file: 'lookup-tables.yaml',
  members: ['name', 'description', 'key', 'csv'],
  nameOf: ({ name }) => textOf(name),
  load: async ({ client, signal }) =>
    (await client.lookupTables.list({ signal })).lookup_tables.map((table) => ({
      id: table.id,
      fields: { ...pick(table, lookupTableKind.members), csv: describeStored(table) },
    })),
  check: (given) => {
    const { csv } = given
    // A file may be longer than the body that creates a table; its limits are those of an upload.
    const { fields, problems } = checkFields(
      contract.lookupTables.create.body,
      typeof csv === 'string' && csv !== '' ? { ...given, csv: '-' } : given,
    )
    return { fields: typeof csv === 'string' && csv !== '' ? { ...fields, csv } : fields, problems: [...problems, ...sizeProblems(csv)] }
  },
  neverChange: ['key'],
  includes: { csv: FILE_BYTES_MAX },
  // The list has hashes of the files, so that equal ones are not downloaded.
  compared: (fields) => withMember(fields, 'csv', (csv) => (typeof csv === 'string' ? describeFile(csv) : csv)),
  contents: {
    member: 'csv',
    fileOf: (name) => `lookup-table-${name}.csv`,
    load: async ({ client, signal }, { id, fields }) => {
      const csv = await client.lookupTables.rows({ params: { tableId: id }, signal })
      // Decoding the response has removed the mark at the beginning of a file, if there was one.
      const marked = `\ufeff${csv}`
      return describeFile(marked) === fields.csv ? marked : csv
    },
  },
  create: async ({ client, signal }, fields, send) => {
    const csv = textOf(fields.csv)
    const isLong = csv.length > CREATED_CHARS_MAX
    const body = { ...(fields as Body), csv: isLong ? headerOf(csv) : csv }
    const { id } = await send(() => client.lookupTables.create({ body, signal }))
    if (isLong) await send(() => client.lookupTables.replaceRows({ params: { tableId: id }, body: csv, signal }))
    return id
  },
  update: async ({ client, signal }, { before, fields }, send) => {
    const params = { tableId: before.id }
    const csv = textOf(fields.csv)
    if (describeFile(csv) !== before.fields.csv) await send(() => client.lookupTables.replaceRows({ params, body: csv, signal }))
    const description = textOf(fields.description)
    if (description !== textOf(before.fields.description))
      await send(() => client.lookupTables.update({ params, body: { description }, signal }))
  },
  remove: ({ client, signal }, { id }, send) => send(() => client.lookupTables.remove({ params: { tableId: id }, signal })),
}

/** What stands for a file where it is compared and shown: its size and its hash. */
const describeFile = (csv: string): string => {
  const bytes = Buffer.from(csv)
  return `${bytes.length} bytes, SHA-256 ${createHash('sha256').update(bytes).digest('hex')}`
}

/** A file that was uploaded to an earlier version has no hash: it differs, and is uploaded once. */
const describeStored = ({ bytes, sha256 = 'unknown' }: Pick<LookupTable, 'bytes' | 'sha256'>): string => `${bytes} bytes, SHA-256 ${sha256}`

const sizeProblems = (csv: ConfigFields['csv']): Problem[] =>
  typeof csv === 'string' && Buffer.byteLength(csv) > FILE_BYTES_MAX
    ? [{ path: ['csv'], message: `must have at most ${FILE_BYTES_MAX} bytes` }]
    : []

/** The first line of a file. Names of columns have no line breaks. */
const headerOf = (csv: string): string => csv.slice(0, csv.indexOf('\n') + 1 || undefined)
