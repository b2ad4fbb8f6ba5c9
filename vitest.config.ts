import { defineConfig } from 'vitest/config'
import { ClosingLine } from './test/runner/closing-line.ts'
import { SlowFirst } from './test/runner/slow-first.ts'

// biome-ignore lint/style/noDefaultExport: the test runner reads the default export
export default defineConfig({
  test: {
    include: ['{api,language,server,cli,web,clients/*}/src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/runner/stores.ts'],
    setupFiles: ['test/runner/seed.ts', 'test/runner/record-statements.ts'],
    reporters: ['default', new ClosingLine()],
    // These only end what hangs: no test may be decided by how fast the machine is.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    teardownTimeout: 300_000,
    expect: { poll: { timeout: 120_000, interval: 20 } },
    // More than the two processors of a small machine: many tests wait for a restart or a timer.
    maxWorkers: 5,
    // A worker keeps the modules it has loaded for its next file. No module of ours keeps state, so files do not see each other.
    isolate: false,
    sequence: { sequencer: SlowFirst },
  },
})
