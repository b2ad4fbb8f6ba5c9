import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { ApiFailure, contract, makeClient, NoResponse } from '@dendro/api'
import { Command, InvalidArgumentError, Option } from 'commander'
import { type Access, type CliClient, clientOptions, credentialFor } from '../connection.ts'
import { addConnection, type Settings } from '../contract-commands.ts'
import { bytesText, countText, quantity } from '../cost.ts'
import { UsageError } from '../failure.ts'
import { pause } from '../follow.ts'
import { headOf, type IngestState, newRun, readState, removeState, repeatableRun, stateFile, writeState } from '../ingest-state.ts'
import { type LineBatch, lineBatches } from '../line-batches.ts'
import { show } from '../output.ts'
import { wholeNumber } from '../query-options.ts'
import type { Terminal } from '../terminal.ts'

type IngestOptions = Settings & {
  file: string
  collection: string
  dataset: string
  tags?: string[]
  format: 'auto' | 'ndjson' | 'text'
  batchBytes: number
  gzip?: boolean
  restart?: boolean
  giveUpAfter: number
}

const BATCH_BYTES = 1_048_576
const BATCH_BYTES_MAX = 16_777_216
const IDLE_MS = 500
const GIVE_UP_MINUTES = 10
const RETRY_MS = 500
const RETRY_MS_MAX = 30_000
const EXAMPLES = `
Examples:
  dendro ingest -f app.log --collection shop --dataset web
  tail -F app.log | dendro ingest -f - --collection shop --dataset web
  dendro ingest -f events.ndjson --dataset import --tags env=prod --gzip

Each batch of a file has an idempotency key made from its content, so a file that is sent twice within an hour is stored once. While the service answers 429 or 503, the command waits as long as it says.
After an interruption the same command continues a file where it ended; --restart sends it from the beginning, and stores it again.
Exit status 1 when an event was rejected.`

/** `dendro ingest`: sends the lines of a file or of standard input. */
export function ingestCommand(terminal: Terminal, globals: () => Settings): Command {
  const command = new Command('ingest')
    .description('Send the lines of a file or of standard input.')
    .requiredOption('-f, --file <path>', 'the file; - is standard input')
    .option('-c, --collection <name>', 'the collection', 'default')
    .option('-d, --dataset <name>', 'the dataset, which the first event creates', 'default')
    .addOption(new Option('--tags <key=value>', 'a tag of the dataset; may be repeated').argParser(collectTags))
    .addOption(
      new Option('--format <format>', 'the lines; auto decides by the first one').choices(['auto', 'ndjson', 'text']).default('auto'),
    )
    .addOption(new Option('--batch-bytes <number>', 'size of a request').argParser(wholeNumber(1, BATCH_BYTES_MAX)).default(BATCH_BYTES))
    .option('--gzip', 'compress the requests')
    .option('--restart', 'send the file from the beginning, also what was stored before')
    .addOption(
      new Option('--give-up-after <minutes>', 'minutes without an answer of the service')
        .argParser(wholeNumber(0, 100_000))
        .default(GIVE_UP_MINUTES),
    )
  addConnection(command).addHelpText('after', EXAMPLES)
  return command.action(async (options: IngestOptions) => {
    const settings = { ...globals(), ...options }
    const access = await credentialFor(settings, terminal)
    await new Ingestion(access, settings, terminal).run()
  })
}

/** The service ignores what is no tag, since it must not cost an event; here it is a mistake. */
function collectTags(given: string, before: unknown): string[] {
  const bad = given.split(',').find((tag) => !/^\s*[^=\s][^=]*=\s*\S/.test(tag))
  if (bad !== undefined) throw new InvalidArgumentError(`It takes key=value, not ${bad}.`)
  return [...(Array.isArray(before) ? before.map(String) : []), given]
}

class Ingestion {
  readonly #client: CliClient
  readonly #access: Access
  readonly #options: IngestOptions
  readonly #terminal: Terminal
  #state: IngestState
  #statePath: string | undefined
  #totalBytes: number | undefined
  #contentType: string | undefined

  constructor(access: Access, options: IngestOptions, terminal: Terminal) {
    this.#access = access
    this.#client = makeClient(contract, { ...clientOptions(access), retry: false })
    this.#options = options
    // Equal lines of standard input are events of their own.
    this.#state = options.file === '-' || options.restart ? newRun() : repeatableRun()
    this.#terminal = terminal
  }

  async run(): Promise<void> {
    const { file, batchBytes } = this.#options
    const startedMs = performance.now()
    if (file !== '-') await this.#openFile(file)
    const { offset, pending } = this.#state
    const input = file === '-' ? this.#terminal.input() : createReadStream(file, { start: offset })
    const batches = lineBatches(input, {
      bytesMax: batchBytes,
      offset,
      firstBytes: pending > 0 ? pending : undefined,
      idleMs: file === '-' ? IDLE_MS : undefined,
    })
    for await (const batch of batches) await this.#sendBatch(batch)
    if (this.#statePath !== undefined) await removeState(this.#statePath)
    this.#report((performance.now() - startedMs) / 1000)
  }

  async #openFile(file: string): Promise<void> {
    const facts = await stat(file).catch((cause: Error) => {
      throw new UsageError(`--file: ${cause.message}`)
    })
    if (!facts.isFile()) throw new UsageError(`--file: ${file} is not a file`)
    const { collection, dataset, restart, format } = this.#options
    this.#totalBytes = facts.size
    this.#statePath = stateFile(this.#terminal, [this.#access.url, collection, dataset, await realpath(file)])
    const known = this.#statePath === undefined || restart ? undefined : await readState(this.#statePath, file)
    if (!known) return
    this.#state = known
    const first = createReadStream(file, { end: 1_023 })
    for await (const piece of first) this.#contentType = contentTypeOf(piece as Buffer, format)
    this.#terminal.err(`Continuing at ${bytesText(known.offset)} of ${bytesText(facts.size)}; --restart begins with the first byte`)
  }

  /** Stores the place of the batch before it is sent, so that after a crash the same batch is sent with the same key. */
  async #sendBatch({ offset, bytes }: LineBatch): Promise<void> {
    const { file, format } = this.#options
    this.#contentType ??= contentTypeOf(bytes, format)
    if (this.#statePath !== undefined) {
      const head = await headOf(file, offset + bytes.length)
      this.#state = { ...this.#state, head, offset, pending: bytes.length }
      await writeState(this.#statePath, this.#state)
    }
    const { accepted, rejected, duplicates = 0 } = await this.#post(offset, bytes)
    this.#state = {
      ...this.#state,
      offset: offset + bytes.length,
      pending: 0,
      accepted: this.#state.accepted + accepted,
      rejected: this.#state.rejected + rejected,
      duplicates: this.#state.duplicates + duplicates,
    }
    const total = this.#totalBytes === undefined ? '' : ` of ${bytesText(this.#totalBytes)}`
    this.#terminal.progress(`${quantity(this.#state.accepted, 'event')} · ${bytesText(this.#state.offset)}${total}`)
  }

  /** Repeats a request until the service has answered it. */
  async #post(
    offset: number,
    bytes: Uint8Array<ArrayBuffer>,
  ): Promise<{ accepted: number; rejected: number; duplicates?: number | undefined }> {
    const { collection, dataset, tags, gzip, giveUpAfter } = this.#options
    const { signal } = this.#terminal
    const query = { collection, dataset, ...(tags ? { tags: tags.join(',') } : {}) }
    const headers = {
      'content-type': this.#contentType ?? 'text/plain',
      'idempotency-key': `${this.#state.run || digestOf([collection, dataset, tags, this.#contentType], bytes)}-${offset}-${bytes.length}`,
      ...(gzip ? { 'content-encoding': 'gzip' } : {}),
    }
    const body = gzip ? new Uint8Array(gzipSync(bytes)) : bytes
    const sinceMs = performance.now()
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#client.ingestion.send({ query, headers, body, signal })
      } catch (thrown) {
        signal.throwIfAborted()
        const waitMs = retryMs(thrown, attempt)
        if (waitMs === undefined || performance.now() - sinceMs > giveUpAfter * 60_000) throw thrown
        const reason = thrown instanceof Error ? thrown.message : String(thrown)
        if (attempt === 1) this.#terminal.err(`dendro: waiting for the service: ${reason}`)
        await pause(waitMs, signal)
        signal.throwIfAborted()
      }
    }
  }

  #report(seconds: number): void {
    const { accepted, rejected, offset, duplicates } = this.#state
    const { output = 'table' } = this.#options
    if (output !== 'table') show({ accepted, rejected, ...(duplicates > 0 ? { duplicates } : {}), bytes: offset }, output, this.#terminal)
    const rate = seconds > 0 ? ` · ${countText(Math.round(accepted / seconds))} events per second` : ''
    this.#terminal.err(`${quantity(accepted, 'event')} accepted · ${countText(rejected)} rejected · ${bytesText(offset)}${rate}`)
    if (duplicates > 0) {
      const some = duplicates === accepted ? `all ${quantity(duplicates, 'event')}` : `${countText(duplicates)} of them`
      this.#terminal.err(`${some} were stored before; --restart sends them again`)
    }
    if (rejected > 0) throw new Error(`${quantity(rejected, 'event')} rejected; dendro ledger list has the reasons`)
  }
}

/** A digest of a batch and of where it goes. */
function digestOf(target: readonly unknown[], bytes: Uint8Array): string {
  return createHash('sha256').update(JSON.stringify(target)).update('\n').update(bytes).digest('hex').slice(0, 32)
}

/** How long to wait before the same request is sent again; undefined when waiting does not help. */
export function retryMs(thrown: unknown, attempt: number): number | undefined {
  const backoffMs = Math.min(RETRY_MS_MAX, RETRY_MS * 2 ** (attempt - 1))
  if (thrown instanceof NoResponse) return backoffMs
  if (!(thrown instanceof ApiFailure)) return undefined
  const mayPass = thrown.status === 408 || thrown.status === 429 || (thrown.status >= 500 && thrown.status !== 501)
  return mayPass ? Math.max(backoffMs, (thrown.retryAfterS ?? 0) * 1_000) : undefined
}

/** JSON lines begin with a brace; everything else is text. */
function contentTypeOf(beginning: Uint8Array, format: IngestOptions['format']): string {
  const first = Buffer.from(beginning.subarray(0, 1_024))
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .trimStart()
  if (format === 'auto' && /^\[\s*[{\n]/.test(first)) {
    throw new UsageError('the file is a JSON array, not lines; to send it in one request: dendro ingestion send --body @FILE')
  }
  return format === 'ndjson' || (format === 'auto' && first.startsWith('{')) ? 'application/x-ndjson' : 'text/plain'
}
