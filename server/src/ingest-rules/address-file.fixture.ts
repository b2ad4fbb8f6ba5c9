/** Writes small databases of IPv4 addresses in the format MMDB. */

type Value = string | number | { readonly [name: string]: Value } | readonly Value[]

const RECORD_BITS = 32
const METADATA_MARK = Buffer.from('abcdef4d61784d696e642e636f6d', 'hex')

/** Types from 8 on need a second byte. */
function head(type: number, size: number): Buffer {
  const first = type < 8 ? [type << 5] : [0, type - 7]
  const [kind = 0, ...rest] = first
  if (size < 29) return Buffer.from([kind | size, ...rest])
  return Buffer.from([kind | 29, ...rest, size - 29])
}

function written(value: Value): Buffer {
  if (typeof value === 'string') {
    const bytes = Buffer.from(value)
    return Buffer.concat([head(2, bytes.length), bytes])
  }
  if (typeof value === 'number') {
    if (!Number.isInteger(value)) {
      const bytes = Buffer.alloc(8)
      bytes.writeDoubleBE(value)
      return Buffer.concat([head(3, 8), bytes])
    }
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(value)
    return Buffer.concat([head(6, 4), bytes])
  }
  if (Array.isArray(value)) return Buffer.concat([head(11, value.length), ...value.map(written)])
  const entries = Object.entries(value as Record<string, Value>)
  return Buffer.concat([head(7, entries.length), ...entries.flatMap(([name, inner]) => [written(name), written(inner)])])
}

/** A database of a type, with what belongs to each network, as in `1.2.3.0/24`. */
export function addressFile(databaseType: string, networks: Readonly<Record<string, Value>>): Buffer {
  const nodes: [number, number][] = [[-1, -1]]
  const leaves: { node: number; side: 0 | 1; value: Value }[] = []
  for (const [network, value] of Object.entries(networks)) {
    const [address = '', length = '32'] = network.split('/')
    const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
    let node = 0
    for (let bit = 0; bit < Number(length); bit += 1) {
      const side = (Math.floor(number / 2 ** (31 - bit)) % 2) as 0 | 1
      const sides = nodes[node] as [number, number]
      if (bit === Number(length) - 1) leaves.push({ node, side, value })
      else {
        if (sides[side] < 0) sides[side] = nodes.push([-1, -1]) - 1
        node = sides[side]
      }
    }
  }
  const data: Buffer[] = []
  let size = 0
  const places = new Map(
    leaves.map(({ node, side, value }) => {
      const bytes = written(value)
      data.push(bytes)
      size += bytes.length
      return [`${node} ${side}`, nodes.length + 16 + size - bytes.length]
    }),
  )
  const tree = Buffer.alloc(nodes.length * 8)
  for (const [node, sides] of nodes.entries()) {
    for (const side of [0, 1] as const) {
      const to = places.get(`${node} ${side}`) ?? (sides[side] < 0 ? nodes.length : sides[side])
      tree.writeUInt32BE(to, node * 8 + side * 4)
    }
  }
  const metadata = written({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_700_000_000,
    database_type: databaseType,
    description: { en: 'test' },
    ip_version: 4,
    languages: ['en'],
    node_count: nodes.length,
    record_size: RECORD_BITS,
  })
  return Buffer.concat([tree, Buffer.alloc(16), ...data, METADATA_MARK, metadata])
}
