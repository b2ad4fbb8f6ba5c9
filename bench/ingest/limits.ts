import { spawnSync } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdCompress } from 'node:zlib'
import type { DataFile } from './data.ts'

/** What the same file allows without any store: its packed size, and the time to pack it or to count its lines. */
export type Limits = { fast: Packed; small: Packed; countS: number | undefined }
export type Packed = { level: number; bytes: number; cpuS: number }

const FAST_LEVEL = 1
const SMALL_LEVEL = 9
const COUNTS = 3

export async function limitsOf({ file }: DataFile): Promise<Limits> {
  const times = Array.from({ length: COUNTS }, () => countSeconds(file)).filter((seconds) => seconds !== undefined)
  return {
    fast: await pack(file, FAST_LEVEL),
    small: await pack(file, SMALL_LEVEL),
    countS: times.length > 0 ? Math.min(...times) : undefined,
  }
}

async function pack(file: string, level: number): Promise<Packed> {
  let bytes = 0
  const before = process.cpuUsage()
  await pipeline(createReadStream(file), createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: level } }), async (packed) => {
    for await (const chunk of packed) bytes += chunk.length
  })
  const { user, system } = process.cpuUsage(before)
  return { level, bytes, cpuS: (user + system) / 1e6 }
}

function countSeconds(file: string): number | undefined {
  const startedMs = performance.now()
  const { status } = spawnSync('wc', ['-l', file])
  return status === 0 ? (performance.now() - startedMs) / 1_000 : undefined
}
