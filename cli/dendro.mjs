#!/usr/bin/env node
// Plain JavaScript: it runs on any Node from 18 on. The packed program is JavaScript too; the sources are TypeScript and need a Node that runs it.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const source = new URL('./src/main.ts', import.meta.url)
if (existsSync(source)) await runSource(source)
else await import('./dist/main.js')

async function runSource(program) {
  const { ensureNode, say, spawned } = await import('../runtime.mjs')
  try {
    const runtime = await ensureNode()
    if (runtime === process.execPath) await import(program.href)
    else process.exitCode = await spawned(runtime, [fileURLToPath(program), ...process.argv.slice(2)], { stdio: 'inherit' })
  } catch (thrown) {
    say(`dendro: ${thrown.message}`)
    process.exitCode = 1
  }
}
