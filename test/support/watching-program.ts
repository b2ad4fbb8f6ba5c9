/** The program that the monitoring journey kills: the whole service, with a wall clock that stands still until its parent moves it. Argument: the time. */
import { openApp } from '../../server/src/app.ts'
import { readConfig } from '../../server/src/config.ts'
import { systemClock } from '../../server/src/kernel/clock.ts'
import { openWorld } from '../../server/src/open-world.ts'

export type ToProgram = { nowMs: number }
export type FromProgram = { url: string }

let nowMs = Number(process.argv[2])
process.on('message', (message: ToProgram) => {
  nowMs = message.nowMs
})
process.on('disconnect', () => process.exit(0))

const config = readConfig(process.env)
const world = await openWorld(config, { clock: { ...systemClock, nowMs: () => nowMs } })
const app = await openApp(world, config)
const up: FromProgram = { url: await app.http.listen({ host: '127.0.0.1', port: 0 }) }
process.send?.(up)
