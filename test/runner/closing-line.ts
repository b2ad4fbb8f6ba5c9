import type { Reporter, TestModule } from 'vitest/node'

/** ClosingLine ends a run with one plain line of counts, which machines read. */
export class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const count = { passed: 0, failed: unhandled.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      if (module.state() === 'failed' && [...module.children.allTests()].length === 0) count.failed += 1
      for (const test of module.children.allTests()) count[test.result().state] += 1
    }
    process.on('exit', () =>
      process.stdout.write(`${count.passed} passed, ${count.failed} failed, ${count.skipped + count.pending} skipped\n`),
    )
  }
}
