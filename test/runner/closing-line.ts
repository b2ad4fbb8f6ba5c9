import type { Reporter, TestCase, TestModule } from 'vitest/node'

const CAUSE_CHARACTERS = 600

/** ClosingLine ends a run with what failed, each with its cause in short, and one plain line of counts, which machines read. */
export class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly { message?: string }[]): void {
    const count = { passed: 0, failed: unhandled.length, skipped: 0, pending: 0 }
    const lines = unhandled.map(({ message = '' }) => `outside of a test: ${inShort(message)}`)
    for (const module of modules) {
      if (module.state() === 'failed' && [...module.children.allTests()].length === 0) {
        count.failed += 1
        lines.push(
          `${module.relativeModuleId}: ${inShort(
            module
              .errors()
              .map(({ message }) => message)
              .join(' '),
          )}`,
        )
      }
      for (const test of module.children.allTests()) {
        count[test.result().state] += 1
        if (test.result().state === 'failed') lines.push(failureOf(module, test))
      }
    }
    process.on('exit', () => {
      for (const line of lines) process.stdout.write(`FAILED ${line}\n`)
      process.stdout.write(`${count.passed} passed, ${count.failed} failed, ${count.skipped + count.pending} skipped\n`)
    })
  }
}

function failureOf(module: TestModule, test: TestCase): string {
  const errors = test.result().errors ?? []
  const received = errors.map((error) => `${error.message}${error.actual === undefined ? '' : ` Received: ${String(error.actual)}`}`)
  return `${module.relativeModuleId} > ${test.fullName}: ${inShort(received.join(' '))}`
}

const inShort = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, CAUSE_CHARACTERS)
