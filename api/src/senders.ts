/** How a test proves a configuration; docs/senders.md says it for each file. */
export type SenderProof =
  /** A test starts the program with the file and reads the events from the service. Without the program, the test is skipped. */
  | 'run'
  /** A test sends what the program sends to the address and with the credentials of the file. */
  | 'replayed'
  /** A test checks the syntax. */
  | 'parsed'

/**
 * How often lines are stored when the service is killed and the network stalls. `once`: the protocol identifies a repeated batch. `at least once`: a
 * batch whose answer was lost is stored twice.
 */
export type SenderDelivery = 'once' | 'at least once'

/** A program that sends logs, with its configuration in `api/senders/`. */
export type SenderConfig = {
  readonly file: string
  readonly title: string
  /** What to do with the file. */
  readonly use: string
  readonly proof: SenderProof
  /** The program that a test runs, by its name in PATH. */
  readonly program?: string
  /** What a test has shown with the program, 10,000 lines, a kill and a stall. */
  readonly delivery?: SenderDelivery
  /** The version that last ran with this file. */
  readonly ranWith?: string
  /** The address of the listener that the sender needs, for `DENDRO_LISTENERS`. */
  readonly listener?: string
}

const agent = (file: string, title: string, more: Partial<SenderConfig> = {}): SenderConfig => ({
  file,
  title,
  use: 'Start the agent with this file and with the key in DENDRO_API_KEY.',
  proof: 'parsed',
  ...more,
})

const FROM_REPOSITORY =
  'The latter comes from the repository: npm pack ./clients/javascript --ignore-scripts=false writes the file to install.'

/** The senders of the page "Send data" and of docs/senders.md, the most usual first. */
export const senders: readonly SenderConfig[] = [
  { file: 'curl.sh', title: 'curl', use: 'Run it in a shell.', proof: 'run', program: 'curl' },
  agent('otel-collector.yaml', 'OpenTelemetry Collector', { proof: 'replayed', delivery: 'once', ranWith: '0.165.0' }),
  agent('fluent-bit.yaml', 'Fluent Bit', { proof: 'replayed', delivery: 'at least once', ranWith: '5.1.1' }),
  agent('rsyslog.conf', 'rsyslog', { proof: 'run', program: 'rsyslogd', delivery: 'at least once', ranWith: '8.2302.0' }),
  agent('vector.yaml', 'Vector', { proof: 'run', program: 'vector', delivery: 'at least once', ranWith: '0.58.0' }),
  agent('filebeat.yaml', 'Filebeat', { proof: 'run', program: 'filebeat', delivery: 'at least once', ranWith: '7.17.29' }),
  agent('logstash.conf', 'Logstash'),
  agent('alloy.alloy', 'Grafana Alloy', { proof: 'run', program: 'alloy', delivery: 'once', ranWith: '1.5.1' }),
  agent('promtail.yaml', 'Promtail', { proof: 'replayed', delivery: 'at least once', ranWith: '3.6.15' }),
  agent('fluentd.conf', 'Fluentd', { proof: 'run', program: 'fluentd', delivery: 'at least once', ranWith: '1.13.3' }),
  agent('syslog-ng.conf', 'syslog-ng', { proof: 'run', program: 'syslog-ng', delivery: 'at least once', ranWith: '3.38.1' }),
  {
    file: 'journal-upload.conf',
    title: 'System journal',
    use: 'Save it as /etc/systemd/journal-upload.conf and start systemd-journal-upload.',
    proof: 'replayed',
    delivery: 'once',
    ranWith: '252.39',
  },
  {
    file: 'pino.mjs',
    title: 'pino (Node.js)',
    use: `Install pino and @dendro/logs. ${FROM_REPOSITORY}`,
    proof: 'run',
    program: 'node',
    delivery: 'once',
  },
  {
    file: 'winston.mjs',
    title: 'winston (Node.js)',
    use: `Install winston and @dendro/logs. ${FROM_REPOSITORY}`,
    proof: 'run',
    program: 'node',
    delivery: 'once',
  },
  {
    file: 'python-logging.py',
    title: 'logging (Python)',
    use: 'Install the package dendro: pip install ./clients/python in the repository.',
    proof: 'run',
    program: 'python3',
    delivery: 'once',
  },
  {
    file: 'otel-sdk.env',
    title: 'OpenTelemetry SDK',
    use: 'Set these variables for a program that has an OpenTelemetry SDK with its OTLP exporter.',
    proof: 'run',
    program: 'node',
  },
  {
    file: 'docker-syslog.yaml',
    title: 'Docker, syslog driver',
    use: 'Add the member `logging` to a service of a Compose file.',
    proof: 'run',
    program: 'docker',
    ranWith: '20.10.24',
    listener: 'syslog+tcp://0.0.0.0:601?key=__KEY__',
  },
  {
    file: 'docker-gelf.yaml',
    title: 'Docker, GELF driver',
    use: 'Add the member `logging` to a service of a Compose file.',
    proof: 'run',
    program: 'docker',
    ranWith: '20.10.24',
    listener: 'gelf+udp://0.0.0.0:12201?key=__KEY__',
  },
  {
    file: 'docker-fluentd.yaml',
    title: 'Docker, Fluentd driver',
    use: 'Add the member `logging` to a service of a Compose file. The tag is the dataset.',
    proof: 'run',
    program: 'docker',
    ranWith: '20.10.24',
    delivery: 'once',
    listener: 'forward+tcp://0.0.0.0:24224?key=__KEY__',
  },
  {
    file: 'docker-splunk.yaml',
    title: 'Docker, Splunk driver',
    use: 'Add the member `logging` to a service of a Compose file.',
    proof: 'replayed',
    delivery: 'at least once',
    ranWith: '20.10.24',
  },
  {
    file: 'nginx.conf',
    title: 'nginx',
    use: 'Add both lines to the block `http`.',
    proof: 'run',
    program: 'nginx',
    ranWith: '1.22.1',
    listener: 'syslog+udp://0.0.0.0:514?key=__KEY__',
  },
  {
    file: 'datadog-agent.yaml',
    title: 'Datadog Agent',
    use: 'Set these members in /etc/datadog-agent/datadog.yaml and restart the agent.',
    proof: 'replayed',
    delivery: 'at least once',
    ranWith: '0.77.0',
  },
  {
    file: 'cloudflare-logpush.json',
    title: 'Cloudflare Logpush',
    use: 'Create a job with this body: POST https://api.cloudflare.com/client/v4/zones/<zone>/logpush/jobs.',
    proof: 'replayed',
  },
  {
    file: 'aws-firehose.json',
    title: 'Amazon Data Firehose',
    use: 'Put in your roles and bucket: aws firehose create-delivery-stream --cli-input-json file://aws-firehose.json',
    proof: 'replayed',
  },
  {
    file: 'vercel-drain.json',
    title: 'Vercel',
    use: 'Create a log drain with this body, or enter its values on the page of the team. Vercel checks the address: set DENDRO_VERCEL_VERIFY.',
    proof: 'replayed',
  },
  { file: 'heroku-drain.sh', title: 'Heroku', use: 'Run it in a shell.', proof: 'replayed' },
]

/** Puts the address of the service and a key into a file of `api/senders/`. */
export function fillSenderConfig(text: string, place: { url: string; key: string }): string {
  const { protocol, hostname, port } = new URL(place.url)
  const isSecure = protocol === 'https:'
  return text
    .replaceAll(isSecure ? /^__HTTP__.*\n/gm : /^__HTTPS__.*\n/gm, '')
    .replaceAll(/^__HTTPS?__/gm, '')
    .replaceAll(/__TLS:(\w+)\|(\w+)__/g, isSecure ? '$1' : '$2')
    .replaceAll('__URL__', () => place.url.replace(/\/+$/, ''))
    .replaceAll('__SCHEME__', protocol.slice(0, -1))
    .replaceAll('__HOST__', hostname)
    .replaceAll('__PORT__', port || (isSecure ? '443' : '80'))
    .replaceAll('__KEY__', () => place.key)
}
