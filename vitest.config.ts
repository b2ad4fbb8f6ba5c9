import { defineConfig } from 'vitest/config'
import { ClosingLine } from './test/closing-line.ts'
import { SlowFirst } from './test/slow-first.ts'

// biome-ignore lint/style/noDefaultExport: the test runner reads the default export
export default defineConfig({
  test: {
    include: ['{api,language,server,cli,web}/src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/stores.ts'],
    setupFiles: ['test/seed.ts'],
    reporters: ['default', new ClosingLine()],
    // These only end what hangs: no test may be decided by how fast the machine is.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000, interval: 20 } },
    maxWorkers: 2,
    sequence: { sequencer: SlowFirst },
  },
})
