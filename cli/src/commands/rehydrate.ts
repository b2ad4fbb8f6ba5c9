import { isUuid, type RehydratedFile, type Rehydration } from '@dendro/api'
import { boundsOf } from '@dendro/language/typed-range'
import { Command, Option } from 'commander'
import { type CliClient, connect } from '../connection.ts'
import { addConnection, type Settings } from '../contract-commands.ts'
import { bytesText, quantity } from '../cost.ts'
import { placeName } from '../dataset-names.ts'
import { explained, UsageError } from '../failure.ts'
import { pause } from '../follow.ts'
import { show } from '../output.ts'
import { addRange, rangeOf } from '../query-options.ts'
import type { Terminal } from '../terminal.ts'

type RehydrateOptions = Settings & {
  dataset?: string
  directory?: string
  files?: string
  bucket?: string
  prefix?: string
  records?: boolean
  endpoint?: string
  region?: string
  accessKeyId?: string
  range?: string
  zone?: 'utc' | 'local'
  where?: string
  wait: boolean
  receipts?: boolean
  id?: string
  cancel?: string
  list?: boolean
}

const POLL_MS = 500
const POLL_MS_MAX = 5_000
const EXAMPLES = `
Examples:
  dendro rehydrate --directory /srv/archive/shop --files '2026/11/**' -d archive.shop -t yesterday
  dendro rehydrate --bucket archive --prefix 2026/11/ --region eu-west-1 -d archive.shop --where "level = 'error'"
  dendro rehydrate --list
  dendro rehydrate --id 7d0c1b1e-… --receipts           # waits for one that exists, prints the receipt of each file
  dendro rehydrate --cancel 7d0c1b1e-…                  # what is stored stays

The keys of a bucket are --access-key-id or AWS_ACCESS_KEY_ID, and AWS_SECRET_ACCESS_KEY or what is typed.
A repetition stores nothing twice. Exit status 1 unless all files were read and all selected events stored.`

/** `dendro rehydrate`: reads files back into a dataset, shows the progress, and prints the receipt. */
export function rehydrateCommand(terminal: Terminal, globals: () => Settings): Command {
  const command = new Command('rehydrate')
    .description('Read events from files of a directory or a bucket back into a dataset.')
    .option('-d, --dataset <name>', 'the dataset that the events go to: collection.dataset or its id; it must exist')
    .option('--directory <path>', 'a directory on the machine of the service, which its operator has opened')
    .option('--files <pattern>', 'the files below it: * and ? within a name, ** for any folders (default: **)')
    .option('--bucket <name>', 'a bucket, instead of a directory')
    .option('--prefix <text>', 'the beginning of the keys in the bucket')
    .option('--records', 'objects hold lists of JSON objects, as in {"Records": [{…}]}')
    .option('--endpoint <url>', 'a server with the interface of S3, instead of that of the region')
    .option('--region <name>', 'the region of the bucket')
    .option('--access-key-id <id>', 'the id of the access key of the bucket')
  addRange(command, 'all times')
    .option('--where <filter>', 'only events that match')
    .addOption(new Option('--no-wait', 'print the rehydration and do not wait for its end'))
    .option('--receipts', 'print the receipt of each file')
    .option('--id <rehydration-id>', 'wait for a rehydration that exists')
    .option('--cancel <rehydration-id>', 'cancel a rehydration and wait for its end')
    .option('--list', 'list the latest rehydrations')
  addConnection(command).addHelpText('after', EXAMPLES)
  return command.action(async (options: RehydrateOptions) => {
    const settings = { ...globals(), ...options }
    checkUsage(settings)
    const client = await connect(settings, terminal, 'credential')
    const output = settings.output ?? 'table'
    if (settings.list) return show(await client.rehydrations.list({ signal: terminal.signal }), output, terminal)
    const started = await startedBy(client, settings, terminal)
    if (!settings.wait) return show(started, output, terminal)
    const ended = await untilEnded(client, started, terminal)
    const receipts = await receiptsOf(client, ended, terminal)
    show(settings.receipts ? receipts : ended, output, terminal)
    report(ended, receipts, settings.cancel !== undefined, terminal)
  })
}

const ORIGIN_OPTIONS = ['directory', 'files', 'bucket', 'prefix', 'records', 'endpoint', 'region', 'accessKeyId'] as const
const NEW_OPTIONS = [...ORIGIN_OPTIONS, 'dataset', 'range', 'where'] as const

function checkUsage(options: RehydrateOptions): void {
  const ways = [options.list, options.id, options.cancel].filter((one) => one !== undefined)
  if (ways.length > 1) throw new UsageError('--list, --id and --cancel exclude each other')
  if (ways.length === 1) {
    if (NEW_OPTIONS.some((name) => options[name] !== undefined))
      throw new UsageError('--list, --id and --cancel take no files and no dataset')
    return
  }
  if (options.dataset === undefined) throw new UsageError('--dataset names the dataset that the events go to')
  if ((options.directory === undefined) === (options.bucket === undefined)) throw new UsageError('give either --directory or --bucket')
  const ofOther = ORIGIN_OPTIONS.slice(options.bucket === undefined ? 2 : 0, options.bucket === undefined ? undefined : 2)
  const wrong = ofOther.find((name) => options[name] !== undefined)
  if (wrong)
    throw new UsageError(
      `--${wrong.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`)} is not for a ${options.bucket === undefined ? 'directory' : 'bucket'}`,
    )
}

async function startedBy(client: CliClient, options: RehydrateOptions, terminal: Terminal): Promise<Rehydration> {
  const { signal } = terminal
  if (options.cancel !== undefined) return client.rehydrations.cancel({ params: { rehydrationId: options.cancel }, signal })
  if (options.id !== undefined) return client.rehydrations.get({ params: { rehydrationId: options.id }, signal })
  const bounds =
    options.range === undefined
      ? undefined
      : boundsOf(rangeOf({ range: options.range, zone: options.zone ?? 'utc' }, Date.now()), Date.now())
  const origin = await originOf(options, terminal)
  const body = {
    log_id: await datasetId(client, options.dataset ?? '', signal),
    origin,
    ...(bounds ? { from_ts: bounds.fromMs, to_ts: bounds.toMs } : {}),
    ...(options.where === undefined ? {} : { filter: options.where }),
  }
  return explained(body, client.rehydrations.create({ body, signal }))
}

async function datasetId(client: CliClient, name: string, signal: AbortSignal): Promise<string> {
  if (isUuid(name)) return name
  const { datasets } = await client.datasets.list({ signal })
  const found = datasets.filter((one) => placeName(one) === name || one.dataset === name)
  const [only] = found
  if (only && found.length === 1) return only.id
  if (!only) throw new UsageError(`there is no dataset ${name}; dendro datasets create makes it`)
  throw new UsageError(`several datasets are named ${name}: ${found.map(placeName).join(', ')}`)
}

async function originOf(options: RehydrateOptions, terminal: Terminal) {
  const { directory, files, bucket, prefix, records, endpoint, region } = options
  if (directory !== undefined) return { kind: 'DIRECTORY' as const, directory, ...(files === undefined ? {} : { files }) }
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = terminal.env
  const access_key_id = options.accessKeyId ?? AWS_ACCESS_KEY_ID
  if (!access_key_id) throw new UsageError('--access-key-id or AWS_ACCESS_KEY_ID gives the access key of the bucket')
  return {
    kind: 'S3' as const,
    bucket: bucket ?? '',
    access_key_id,
    secret_access_key: AWS_SECRET_ACCESS_KEY || (await terminal.readSecret('Secret access key: ')),
    ...(prefix === undefined ? {} : { prefix }),
    ...(records ? { format: 'RECORDS' as const } : {}),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
  }
}

/** Polls until the rehydration has ended. */
async function untilEnded(client: CliClient, started: Rehydration, terminal: Terminal): Promise<Rehydration> {
  const { signal } = terminal
  let now = started
  let shown: string | undefined
  for (let waitMs = POLL_MS; now.ended_at === undefined; waitMs = Math.min(POLL_MS_MAX, waitMs * 1.5)) {
    const { ended_files, files, ended_bytes, bytes, stored_events, failure_detail } = now
    const size = `${bytesText(ended_bytes)} of ${bytesText(bytes)}`
    terminal.progress(`Reading… ${ended_files} of ${quantity(files, 'file')} · ${size} · ${quantity(stored_events, 'event')} stored`)
    if (failure_detail !== undefined && failure_detail !== shown) terminal.err(`dendro: waiting: ${failure_detail}`)
    shown = failure_detail
    await pause(waitMs, signal)
    if (signal.aborted) {
      terminal.err(
        `The rehydration continues on the service. To wait for it: dendro rehydrate --id ${now.id}. To end it: dendro rehydrate --cancel ${now.id}`,
      )
      signal.throwIfAborted()
    }
    now = await client.rehydrations.get({ params: { rehydrationId: now.id }, signal })
  }
  return now
}

async function receiptsOf(client: CliClient, { id, files }: Rehydration, { signal }: Terminal): Promise<RehydratedFile[]> {
  const receipts: RehydratedFile[] = []
  while (receipts.length < files) {
    const after = receipts.at(-1)?.number ?? 0
    const page = await client.rehydrations.files({ params: { rehydrationId: id }, query: { after }, signal })
    if (page.files.length === 0) break
    receipts.push(...page.files)
  }
  return receipts
}

const NAMED_MAX = 20

/** Names the files that were refused, and fails unless everything that was wanted is stored. */
function report(ended: Rehydration, receipts: readonly RehydratedFile[], isCancel: boolean, terminal: Terminal): void {
  const refused = receipts.filter(({ status }) => status === 'REFUSED')
  for (const { name, failure_detail } of refused.slice(0, NAMED_MAX)) terminal.err(`${name}: ${failure_detail ?? 'refused'}`)
  if (refused.length > NAMED_MAX) terminal.err(`… and ${quantity(refused.length - NAMED_MAX, 'other file')}`)
  if (isCancel && ended.status === 'CANCELLED') return
  if (ended.status !== 'COMPLETE') {
    throw new Error(
      `the rehydration was ${ended.status.toLowerCase()}${ended.failure_detail === undefined ? '' : `: ${ended.failure_detail}`}`,
    )
  }
  const { refused_files, refused_events } = ended
  if (refused_files > 0 || refused_events > 0) {
    throw new Error(`${quantity(refused_files, 'file')} and ${quantity(refused_events, 'event')} were refused`)
  }
}
