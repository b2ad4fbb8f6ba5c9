import { hostname } from 'node:os'
import { parse as parseYaml } from 'yaml'
import { until } from '../support/service.ts'
import type { DeliveredEvent, DeliveryProgram, Placement, RunningProgram } from './delivery-harness.ts'
import { LINES_PER_PART, textOf } from './delivery-line.ts'
import { senderConfig } from './sender-files.ts'

/**
 * A container of Docker logs with the drivers of docs/senders.md. DENDRO_TEST_DOCKER is the path of its client; the image `example/app` needs a shell.
 * The daemon must run on this machine, and a container needs no network.
 */
const client = process.env.DENDRO_TEST_DOCKER || undefined

type Driver = Pick<DeliveryProgram, 'name' | 'delivery' | 'listener' | 'dataset' | 'lines'> & {
  /** The port in the file, which is that of the service unless the driver needs a listener. */
  readonly port?: string
  /** Drivers with a severity of their own say that of standard output. */
  readonly severity: 'warn' | 'info'
  /** The field with the name of the host or of the container. */
  readonly source: (event: DeliveredEvent) => string | undefined
  readonly isContainer?: true
}

const drivers: readonly Driver[] = [
  {
    ...{ name: 'docker-fluentd', dataset: 'app', listener: 'forward+tcp', port: ':24224' },
    // Each line is a chunk with an id, and the driver waits for its answer.
    delivery: 'once',
    lines: 1_000,
    severity: 'warn',
    source: ({ attributes }) => attributes.$container_name,
    isContainer: true,
  },
  {
    ...{ name: 'docker-splunk', dataset: 'app' },
    delivery: 'at least once',
    severity: 'warn',
    source: ({ attributes }) => attributes.$host,
  },
  {
    ...{ name: 'docker-syslog', dataset: 'docker-syslog', listener: 'syslog+tcp', port: ':601' },
    delivery: 'unacknowledged',
    severity: 'info',
    source: ({ message_kvs }) => message_kvs.hostname,
  },
  {
    ...{ name: 'docker-gelf', dataset: 'docker-gelf', listener: 'gelf+udp', port: ':12201' },
    delivery: 'unacknowledged',
    severity: 'info',
    source: ({ attributes }) => attributes['$host.name'],
  },
]

export const dockerDrivers: readonly DeliveryProgram[] = drivers.map((driver) => ({
  ...driver,
  file: `${driver.name}.yaml`,
  executable: client,
  start: (placement) => start(driver, placement),
  isRight: (event, number, { startMs }) =>
    event['@status'] === driver.severity &&
    event['@raw'].includes(`"${textOf(driver.name, number)}"`) &&
    event.message_kvs['cart.items'] === '2' &&
    driver.source(event) === (driver.isContainer ? `/${driver.name}` : hostname()) &&
    event.metadata.timestamp >= startMs &&
    event.metadata.timestamp <= Date.now(),
}))

async function start({ name, port: written = '' }: Driver, { url, port, key, lines, run, countOf }: Placement): Promise<RunningProgram> {
  const text = senderConfig(`${name}.yaml`, { url, key }).replace(written, written && `:${port}`)
  const { image, logging } = parseYaml(text).services.app
  const options = Object.entries(logging.options).flatMap(([option, value]) => ['--log-opt', `${option}=${value}`])
  const program = `echo '${name} is ready'
read line
number=0
while [ $number -lt ${lines} ]; do
  echo "{\\"level\\":\\"warn\\",\\"message\\":\\"${name} part=$((number / ${LINES_PER_PART})) order number=$number is late\\",\\"cart\\":{\\"items\\":2}}"
  number=$((number + 1))
done
exec cat`
  const args = ['run', '--rm', '--interactive', '--network', 'none', '--name', name, '--log-driver', logging.driver, ...options, image]
  // The container ends with its input, which ends with the client.
  const child = run([...args, 'sh', '-c', program], { stdio: ['pipe', 'ignore', 'inherit'] })
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`the container with ${name} left with status ${child.exitCode}`)
    return (await countOf(`${name} is ready`)) > 0
  })
  return { send: async () => void child.stdin?.write('begin\n') }
}
