import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../kernel/free-port.fixture.ts'
import { findEngineLibrary } from './engine-library.ts'

const CLUSTER = 'both'
const NODES = 2
const ENGINE_PROGRAM = join(import.meta.dirname, 'engine-child.ts')
const READY_TRIES = 600

/** How the proxy in front of the first node handles a statement: pass it on, drop its answer, or answer with a server error. */
export type ProxyAction = 'pass' | 'lose answer' | { code: number; message: string }
/** A promise keeps the statement waiting, and then passes it on. */
export type ProxyVerdict = ProxyAction | Promise<void>

/**
 * Two engines, each a shard of one cluster, and a proxy in front of the first. The proxy replaces features that the embedded engine lacks:
 * it sends a statement with `on cluster` to every node, turns replicated tables into plain ones, and has no replicas to wait for. Inserts into tables that
 * every node has are refused while half of the nodes are away.
 */
export type TestCluster = {
  /** The address of the first node in the form of DENDRO_CLICKHOUSE_URL. */
  url: string
  /** The address of the first node itself, which has neither replication nor statements for all nodes. */
  bareUrl: string
  /** Decides for each statement. */
  verdict: (statement: string) => ProxyVerdict
  /** Inserts of events go to those of these nodes that run, in rotation, as through a load balancer; all else goes to the first node. */
  insertsTo: readonly number[]
  /** Whether inserts into tables that every node has reach all nodes that run, as replication would bring them there. */
  replicates: boolean
  /** Runs a statement on one node, bypassing the proxy, and returns its answer. */
  ask(node: number, statement: string, database?: string): Promise<string>
  stop(node: number): Promise<void>
  start(node: number): Promise<void>
  close(): Promise<void>
}

type Node = { dir: string; httpPort: number; process: ChildProcess | undefined }

export async function startTestCluster(): Promise<TestCluster> {
  const root = await mkdtemp(join(tmpdir(), 'dendro-cluster-'))
  const tcpPorts = await Promise.all(Array.from({ length: NODES }, () => freePort()))
  const nodes: Node[] = []
  for (const [index, tcpPort] of tcpPorts.entries()) {
    const node = { dir: join(root, String(index)), httpPort: await freePort(), process: undefined }
    await writeConfig(node, tcpPort, tcpPorts)
    nodes.push(node)
  }
  await Promise.all(nodes.map(startNode))
  const nodeAt = (index: number): Node => {
    const node = nodes[index]
    if (!node) throw new Error(`there is no node ${index}`)
    return node
  }
  const cluster: Pick<TestCluster, 'verdict' | 'insertsTo' | 'replicates'> = { verdict: () => 'pass', insertsTo: [0], replicates: false }
  let inserts = 0
  const nodesFor = (statement: string): readonly Node[] => {
    if (!/^insert into (?:pattern_)?events_/.test(statement)) return nodes
    const running = nodes.filter((node, index) => node.process && cluster.insertsTo.includes(index))
    inserts += 1
    return running.length === 0 ? nodes : running.slice(inserts % running.length)
  }
  const way = createServer((request, response) => {
    void carry(
      request,
      response,
      nodesFor,
      () => cluster.replicates,
      (statement) => cluster.verdict(statement),
    ).catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(way, 'listening')
  const address = way.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return Object.assign(cluster, {
    url: `http://default:@127.0.0.1:${port}/dendro?cluster=${CLUSTER}`,
    bareUrl: `http://default:@127.0.0.1:${nodeAt(0).httpPort}/dendro?cluster=${CLUSTER}`,
    ask: async (index: number, statement: string, database = 'dendro') => {
      const answer = await send(nodeAt(index), `/?database=${database}`, Buffer.from(statement))
      if (!answer.ok) throw new Error(await answer.text())
      return (await answer.text()).trim()
    },
    stop: (index: number) => stopNode(nodeAt(index)),
    start: (index: number) => startNode(nodeAt(index)),
    close: async () => {
      way.closeAllConnections()
      way.close()
      await Promise.all(nodes.map(stopNode))
      await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    },
  })
}

async function carry(
  request: IncomingMessage,
  response: ServerResponse,
  nodesFor: (statement: string) => readonly Node[],
  replicates: () => boolean,
  verdictOf: (statement: string) => ProxyVerdict,
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  const url = new URL(request.url ?? '/', 'http://way')
  const inUrl = url.searchParams.get('query')
  const statement = inUrl ?? body.toString()
  const verdict = (await verdictOf(statement)) ?? 'pass'
  if (typeof verdict === 'object') return refuse(response, verdict)
  const onAll = /\bon cluster '\w+'/i.test(statement)
  const plain = statement
    .replace(/\bon cluster '\w+'/gi, '')
    .replace(/Replicated(\w*MergeTree)\('[^']*', '[^']*'(?:, )?/g, '$1(')
    .replace(/^system sync replica .*/, 'select 1')
  if (inUrl !== null) url.searchParams.set('query', plain)
  const sent = inUrl === null ? Buffer.from(plain) : body
  const nodes = nodesFor(statement)
  const isEverywhere = /^insert into (?:\w+\.)?(?:seq_claims|ledger|migrations)\b/i.test(statement)
  const running = nodes.filter((node) => node.process).length
  if (isEverywhere && url.searchParams.has('insert_quorum') && running <= nodes.length / 2)
    return refuse(response, tooFew(running, nodes.length))
  const isReplicated = replicates() && isEverywhere
  const targets = onAll || isReplicated ? nodes : nodes.slice(0, 1)
  const answers = await Promise.all(targets.map((node) => send(node, url.pathname + url.search, sent, request).catch(() => undefined)))
  const failed = answers.find((answer) => answer && !answer.ok)
  const answer = failed ?? answers[0]
  if (onAll && !failed && answers.includes(undefined)) return refuse(response, { code: 159, message: 'There are 1 unfinished hosts' })
  if (!answer || verdict === 'lose answer') return void response.destroy()
  const bytes = Buffer.from(await answer.arrayBuffer())
  const headers = [...answer.headers].filter(([name]) => name.startsWith('x-clickhouse') || name === 'content-type')
  response.writeHead(answer.status, Object.fromEntries(headers))
  response.end(bytes)
}

const tooFew = (running: number, nodes: number) => ({
  code: 285,
  message: `Number of alive replicas (${running}) is less than requested quorum (${Math.floor(nodes / 2) + 1}/${nodes})`,
})

function refuse(response: ServerResponse, { code, message }: { code: number; message: string }): void {
  response.writeHead(500, { 'x-clickhouse-exception-code': String(code) })
  response.end(`Code: ${code}. DB::Exception: ${message}. (TEST) (version 1)`)
}

function send(node: Node, path: string, body: Buffer, request?: IncomingMessage): Promise<Response> {
  const kept = ['authorization', 'content-type'].flatMap((name) => {
    const value = request?.headers[name]
    return typeof value === 'string' ? [[name, value] as const] : []
  })
  return fetch(`http://127.0.0.1:${node.httpPort}${path}`, {
    method: 'POST',
    body: new Uint8Array(body),
    headers: Object.fromEntries(kept),
  })
}

async function startNode(node: Node): Promise<void> {
  if (node.process) return
  const args = [
    '--disable-warning=ExperimentalWarning',
    ENGINE_PROGRAM,
    findEngineLibrary(),
    `--config-file=${join(node.dir, 'config.xml')}`,
    '--interactive',
    '--query=SYSTEM START LISTEN HTTP; SYSTEM START LISTEN TCP',
  ]
  node.process = spawn(process.execPath, args, { stdio: ['pipe', 'ignore', 'ignore'], env: { TZ: 'UTC' } })
  node.process.stdin?.on('error', () => undefined)
  for (let tries = 0; tries < READY_TRIES; tries += 1) {
    const answer = await send(node, '/', Buffer.from('select 1 from clusterAllReplicas(default, system.one)')).catch(() => undefined)
    if (answer?.status !== undefined) return
    await sleep(100)
  }
  throw new Error('a node of the test cluster did not start')
}

async function stopNode(node: Node): Promise<void> {
  const { process: child } = node
  node.process = undefined
  if (!child || child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

async function writeConfig({ dir, httpPort }: Node, tcpPort: number, tcpPorts: readonly number[]): Promise<void> {
  const macros = `<macros><shard>${tcpPorts.indexOf(tcpPort) + 1}</shard><replica>a</replica></macros>`
  await mkdir(dir, { recursive: true })
  const shards = tcpPorts.map((port) => `<shard><replica><host>127.0.0.1</host><port>${port}</port></replica></shard>`).join('')
  await writeFile(
    join(dir, 'users.xml'),
    `<clickhouse><profiles><default></default></profiles><quotas><default></default></quotas><users><default><password></password>
<networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users></clickhouse>`,
  )
  await writeFile(
    join(dir, 'config.xml'),
    `<clickhouse><path>${join(dir, 'store')}</path><users_config>${join(dir, 'users.xml')}</users_config><listen_host>127.0.0.1</listen_host>
<http_port>${httpPort}</http_port><tcp_port>${tcpPort}</tcp_port><history_file>/dev/null</history_file><progress>off</progress>
<disable_suggestion>1</disable_suggestion><log-level>none</log-level>${macros}
<remote_servers><${CLUSTER}>${shards}</${CLUSTER}></remote_servers>
<http_handlers><rule><url>/</url><methods>GET,POST</methods>
<handler><type>dynamic_query_handler</type><query_param_name>query</query_param_name></handler></rule></http_handlers></clickhouse>`,
  )
}
