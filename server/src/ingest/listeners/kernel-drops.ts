import { readFile } from 'node:fs/promises'
import type { Logger } from '../../kernel/log.ts'

const FILES = ['/proc/net/udp', '/proc/net/udp6']
const HEX = 16

/** The datagrams that the system dropped for sockets at a port, from a table such as /proc/net/udp. */
export function dropsOfPort(table: string, port: number): number {
  let drops = 0
  for (const line of table.split('\n').slice(1)) {
    const columns = line.trim().split(/\s+/)
    const local = columns[1] ?? ''
    if (Number.parseInt(local.slice(local.lastIndexOf(':') + 1), HEX) === port) drops += Number(columns.at(-1)) || 0
  }
  return drops
}

/** Reads the system's count of dropped datagrams; undefined where the system has none. */
export async function readKernelDrops(port: number, log: Logger): Promise<number | undefined> {
  const tables = await Promise.all(
    FILES.map((file) =>
      readFile(file, 'utf8').catch((cause: unknown) => {
        log.trace({ err: cause }, 'the system does not count dropped datagrams')
        return undefined
      }),
    ),
  )
  const read = tables.filter((table) => table !== undefined)
  return read.length === 0 ? undefined : read.reduce((sum, table) => sum + dropsOfPort(table, port), 0)
}
