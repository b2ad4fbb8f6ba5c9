import { join } from 'node:path'
import type { DeliveryProgram, Placement, RunningProgram } from './delivery-harness.ts'
import { textOf } from './delivery-line.ts'
import { programOf } from './installed-programs.ts'
import { runProgram } from './run-program.ts'
import { senderConfig } from './sender-files.ts'

const writer = programOf('systemd-journal-remote')
const NAME = 'systemd-journal-upload'
const FILE = 'journal-upload.conf'

/** systemd-journal-upload sends a journal file to the address of its file of docs/senders.md, and begins again after a failure, as its unit says. */
export const journalUpload: DeliveryProgram = {
  name: NAME,
  file: FILE,
  executable: writer && programOf(NAME),
  // Each entry has a cursor.
  delivery: 'once',
  // All entries are one request, so the stall must meet its first repetition.
  answersBeforeStall: 0,
  dataset: 'app',
  start,
  isRight: ({ '@status': status, '@raw': raw, message_kvs, attributes, metadata: { timestamp } }, number, { startMs }) =>
    status === 'warn' &&
    raw === textOf(NAME, number) &&
    message_kvs.CART_ITEMS === '2' &&
    attributes['$host.name'] === 'web-1' &&
    timestamp === startMs + number,
}

async function start({ home, url, key, lines, startMs, run }: Placement): Promise<RunningProgram> {
  const journal = join(home, 'app.journal')
  const entries = Array.from({ length: lines }, (_, number) => entryOf(number, startMs)).join('')
  const written = await runProgram(writer ?? '', ['-o', journal, '-'], { input: entries })
  if (written.status !== 0) throw new Error(`the journal could not be written: ${written.output}`)
  const [, address = ''] = /^URL=(.*)$/m.exec(senderConfig(FILE, { url, key })) ?? []
  const args = [`--url=${address}`, `--save-state=${join(home, 'state')}`, `--file=${journal}`]
  // It waits for more entries until it is killed with the test, which has the status null.
  const upload = () => {
    run(args, { stdio: 'ignore' }).once('exit', (status) => {
      if (status !== null && status !== 0) upload()
    })
  }
  return { send: async () => upload() }
}

const BOOT_ID = '0123456789abcdef0123456789abcdef'

function entryOf(number: number, startMs: number): string {
  const fields = {
    __REALTIME_TIMESTAMP: (startMs + number) * 1_000,
    __MONOTONIC_TIMESTAMP: (1 + number) * 1_000,
    _BOOT_ID: BOOT_ID,
    _HOSTNAME: 'web-1',
    SYSLOG_IDENTIFIER: 'app',
    PRIORITY: 4,
    CART_ITEMS: 2,
    MESSAGE: textOf(NAME, number),
  }
  return `${Object.entries(fields)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')}\n`
}
