#!/usr/bin/env node
import { resolve } from 'node:path'
import { openApp, openWorld } from './app.ts'
import { type Config, readConfig, unknownSettings } from './config.ts'
import { lockDataDir } from './meta/lock.ts'

const STOP_BOUND_MS = 30_000

/** start runs the service until SIGINT or SIGTERM; whatever stops the start is one sentence on standard error and status 1. */
async function start(config: Config): Promise<void> {
  const lock = await lockDataDir(config.DENDRO_DATA_DIR)
  const world = await openWorld(config)
  const app = await openApp(world, config)
  const address = await app.door.listen({ host: config.DENDRO_HOST, port: config.DENDRO_PORT })
  for (const name of unknownSettings(process.env)) world.log.warn({ name }, 'a setting that looks like ours is not read')
  greet(config, address, app.firstKey?.reveal())
  await stopSignal()
  const late = setTimeout(() => process.exit(1), STOP_BOUND_MS)
  late.unref()
  await app.close()
  await lock.release()
}

function greet(config: Config, address: string, firstKey: string | undefined): void {
  const base = config.DENDRO_PUBLIC_URL ?? address
  const lines = [
    '',
    `  Dendro answers on ${base}`,
    `  API reference     ${base}/docs`,
    `  Data              ${resolve(config.DENDRO_DATA_DIR)}`,
  ]
  if (firstKey) {
    lines.push('', '  First admin key, shown this once:', `    ${firstKey}`, '', '  Try it:')
    lines.push(`    curl -H 'X-SERVICE-API-KEY: ${firstKey}' ${base}/datasets`)
  }
  process.stdout.write(`${lines.join('\n')}\n\n  Stop with Ctrl-C.\n\n`)
}

const stopSignal = (): Promise<void> =>
  new Promise((done) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => done())
  })

try {
  await start(readConfig(process.env))
} catch (thrown) {
  process.stderr.write(`dendro: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`)
  process.exitCode = 1
}
