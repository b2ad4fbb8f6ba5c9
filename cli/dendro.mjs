#!/usr/bin/env node
// Plain JavaScript: it runs on any Node from 18 on. The program itself is TypeScript and needs a Node that runs it.
import { fileURLToPath } from 'node:url'
import { ensureNode, say, spawned } from '../runtime.mjs'

const program = new URL('./src/main.ts', import.meta.url)
try {
  const runtime = await ensureNode()
  if (runtime === process.execPath) await import(program.href)
  else process.exitCode = await spawned(runtime, [fileURLToPath(program), ...process.argv.slice(2)], { stdio: 'inherit' })
} catch (thrown) {
  say(`dendro: ${thrown.message}`)
  process.exitCode = 1
}
