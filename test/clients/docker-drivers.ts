import { parse as parseYaml } from 'yaml'
import type { DeliveryProgram, Placement, RunningProgram } from './delivery-harness.ts'
import { LINES_PER_PART, textOf } from './delivery-line.ts'
import { senderConfig } from './sender-files.ts'

/**
 * A container of Docker logs with the drivers of docs/senders.md. DENDRO_TEST_DOCKER is the path of its client; the image `example/app` needs a shell.
 * The daemon must run on this machine, and a container needs no network.
 */
const client = process.env.DENDRO_TEST_DOCKER || undefined

type Driver = Pick<DeliveryProgram, 'name' | 'delivery' | 'listener' | 'dataset'> & {
  /** The port in the file, which is that of the service unless the driver needs a listener. */
  readonly port?: string
}

const drivers: readonly Driver[] = [
  // Each line is a chunk with an id.
  { name: 'docker-fluentd', delivery: 'once', listener: 'forward+tcp', port: ':24224', dataset: 'app' },
  { name: 'docker-splunk', delivery: 'at least once', dataset: 'app' },
  { name: 'docker-syslog', delivery: 'unacknowledged', listener: 'syslog+tcp', port: ':601', dataset: 'docker-syslog' },
  { name: 'docker-gelf', delivery: 'unacknowledged', listener: 'gelf+udp', port: ':12201', dataset: 'docker-gelf' },
]

export const dockerDrivers: readonly DeliveryProgram[] = drivers.map((driver) => ({
  ...driver,
  file: `${driver.name}.yaml`,
  executable: client,
  start: async (placement) => start(driver, placement),
  isRight: ({ '@status': status, '@raw': raw, message_kvs, metadata: { timestamp } }, number, { startMs }) =>
    status === 'warn' &&
    raw.includes(textOf(driver.name, number)) &&
    message_kvs['cart.items'] === '2' &&
    timestamp >= startMs &&
    timestamp <= Date.now(),
}))

function start({ name, port: written = '' }: Driver, { url, port, key, lines, run }: Placement): RunningProgram {
  const text = senderConfig(`${name}.yaml`, { url, key }).replace(written, written && `:${port}`)
  const { image, logging } = parseYaml(text).services.app
  const options = Object.entries(logging.options).flatMap(([option, value]) => ['--log-opt', `${option}=${value}`])
  const program = `number=0
while [ $number -lt ${lines} ]; do
  echo "{\\"level\\":\\"warn\\",\\"message\\":\\"${name} part=$((number / ${LINES_PER_PART})) order number=$number is late\\",\\"cart\\":{\\"items\\":2}}"
  number=$((number + 1))
done
exec cat`
  const args = ['run', '--rm', '--interactive', '--network', 'none', '--name', name, '--log-driver', logging.driver, ...options, image]
  return {
    // The container ends with its input, which ends with the client.
    send: async () => void run([...args, 'sh', '-c', program], { stdio: ['pipe', 'ignore', 'inherit'] }),
  }
}
