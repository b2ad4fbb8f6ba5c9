import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const PLATFORMS = ['linux-x64-gnu', 'linux-arm64-gnu', 'darwin-arm64', 'darwin-x64'] as const
const FILES = ['libchdb.so', 'libchdb.dylib'] as const

/** Returns the path of the engine's library for this machine. npm silently skips the package on unsupported platforms. */
export function findEngineLibrary(platform = platformName()): string {
  const known = PLATFORMS.find((name) => name === platform)
  if (!known) {
    throw new Error(
      `there is no embedded event engine for ${platform} (there is for ${PLATFORMS.join(', ')}); set DENDRO_CLICKHOUSE_URL to a ClickHouse server`,
    )
  }
  const name = `@chdb/lib-${known}`
  const folder = packageFolder(name)
  const file = folder && FILES.map((file) => join(folder, file)).find((path) => existsSync(path))
  if (!file) {
    throw new Error(`the package ${name} is not installed; run npm install with optional packages, or set DENDRO_CLICKHOUSE_URL`)
  }
  return file
}

function packageFolder(name: string): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
  } catch {
    return undefined
  }
}

/** Distinguishes glibc, which the engine needs, from other C libraries on Linux. */
export function platformName(): string {
  const base = `${process.platform}-${process.arch}`
  if (process.platform !== 'linux') return base
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  return header.glibcVersionRuntime ? `${base}-gnu` : `${base}-musl`
}
