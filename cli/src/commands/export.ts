import { rename, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Export } from '@dendro/api'
import { Command, Option } from 'commander'
import { type CliClient, connect } from '../connection.ts'
import { addConnection, type Settings } from '../contract-commands.ts'
import { bytesText, quantity } from '../cost.ts'
import { Download } from '../download.ts'
import { explained, UsageError } from '../failure.ts'
import { pause } from '../follow.ts'
import { show } from '../output.ts'
import { addRange, addSources, filterOf, type QueryOptions, rangeBody, selectorOf } from '../query-options.ts'
import type { Terminal } from '../terminal.ts'

const exportFormats = ['ndjson', 'csv', 'parquet'] as const
const compressions = ['none', 'gzip', 'zstd'] as const

type ExportOptions = QueryOptions &
  Settings & {
    format?: (typeof exportFormats)[number]
    compression?: (typeof compressions)[number]
    wait?: boolean
    file?: string
    id?: string
  }

const POLL_MS = 500
const POLL_MS_MAX = 5_000
const EXAMPLES = `
Examples:
  dendro export "level = 'error'" -d shop.web -t yesterday -o errors.ndjson
  dendro export -t 7d --format parquet -o week.parquet
  dendro export -t 1d --compression gzip --wait         # waits, then prints the link of the download
  dendro export --id 7d0c1b1e-… -o errors.ndjson        # continues a download

-o waits for the export and downloads it. An interrupted download continues where it ended; the size is checked at the end.`

/** `dendro export`: creates an export, waits for it and downloads the file. */
export function exportCommand(terminal: Terminal, globals: () => Settings): Command {
  const command = new Command('export')
    .description('Export all matching events to a file.')
    .argument('[query...]', 'the filter; every event when absent')
    .option('--where <filter>', 'the filter, instead of the words')
  addRange(addSources(command))
    .addOption(new Option('--format <format>', 'file format (default: ndjson)').choices(exportFormats))
    .addOption(new Option('--compression <compression>', 'compression of the file (default: none)').choices(compressions))
    .option('--wait', 'wait until the export is complete')
    .option('-o, --file <path>', 'download to this file; - is standard output')
    .option('--id <export-id>', 'an existing export, instead of a new one')
  addConnection(command).addHelpText('after', EXAMPLES)
  return command.action(async (words: string[], options: ExportOptions) => {
    const settings = { ...globals(), ...options }
    const client = await connect(settings, terminal, 'credential')
    if (settings.file !== undefined && settings.file !== '-') await checkFolder(settings.file)
    const started =
      settings.id === undefined ? await create(client, words, settings, terminal) : await find(client, settings.id, words, settings)
    if (!settings.wait && settings.file === undefined) return show(started, settings.output ?? 'table', terminal)
    const complete = await completed(client, started, terminal)
    if (settings.file === undefined) return show(complete, settings.output ?? 'table', terminal)
    await save(client, complete, settings.file, terminal)
  })
}

/** Nothing is exported for a file that cannot be written. */
async function checkFolder(file: string): Promise<void> {
  const folder = dirname(file)
  if (!(await stat(folder).catch(() => undefined))?.isDirectory()) throw new UsageError(`--file: there is no directory ${folder}`)
}

async function create(client: CliClient, words: readonly string[], options: ExportOptions, terminal: Terminal): Promise<Export> {
  if (options.dataset && options.fromExpr !== undefined) throw new UsageError('--dataset excludes --from-expr')
  const body = {
    search_details: {
      from_expr: options.fromExpr ?? (options.dataset ? selectorOf(options.dataset) : '*'),
      ...rangeBody(options, Date.now()),
      ...filterOf(words, options),
    },
    ...(options.format ? { format: options.format } : {}),
    ...(options.compression ? { compression: options.compression } : {}),
  }
  return explained(body, client.exports.create({ body, signal: terminal.signal }))
}

async function find(client: CliClient, exportId: string, words: readonly string[], options: ExportOptions): Promise<Export> {
  const { where, dataset, fromExpr, range, format, compression } = options
  if (words.length > 0 || [where, dataset, fromExpr, range, format, compression].some((one) => one !== undefined)) {
    throw new UsageError('--id excludes a query: the export exists')
  }
  return client.exports.get({ params: { exportId } })
}

/** Polls until the export has ended. */
async function completed(client: CliClient, started: Export, terminal: Terminal): Promise<Export> {
  let now = started
  for (let waitMs = POLL_MS; now.status !== 'COMPLETE'; waitMs = Math.min(POLL_MS_MAX, waitMs * 1.5)) {
    if (now.status === 'FAILED') throw new Error(`the export failed: ${now.failure_detail ?? 'no reason is known'}`)
    terminal.progress(`Exporting… ${now.progress} % · ${quantity(now.events, 'event')} · ${bytesText(now.bytes)}`)
    await pause(waitMs, terminal.signal)
    if (terminal.signal.aborted) {
      terminal.err(`The export continues on the service. To get it: dendro export --id ${now.export_id} -o FILE`)
      terminal.signal.throwIfAborted()
    }
    now = await client.exports.get({ params: { exportId: now.export_id }, signal: terminal.signal })
  }
  return now
}

/** Downloads to a part file, which gets its name when it is complete. */
async function save(client: CliClient, complete: Export, file: string, terminal: Terminal): Promise<void> {
  const part = file === '-' ? undefined : `${file}.${complete.export_id}.part`
  const link = async () => (await client.exports.get({ params: { exportId: complete.export_id }, signal: terminal.signal })).location
  const download = new Download({ link, bytes: complete.bytes, etag: complete.export_id }, part, terminal)
  try {
    await download.run()
  } catch (thrown) {
    if (part !== undefined) terminal.err(`The download is incomplete. To continue: dendro export --id ${complete.export_id} -o ${file}`)
    throw thrown
  }
  if (part !== undefined) await rename(part, file)
  terminal.err(`${quantity(complete.events, 'event')} · ${bytesText(complete.bytes)}${part === undefined ? '' : ` · ${file}`}`)
}
