/** Builds the package: the client as plain JavaScript without dependencies, and its types, both derived from the contract. */
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { clientRoutes, contract, openApiDocument } from '@dendro/api'
import ts from 'typescript'
import { declarationsOf } from './declarations.ts'

const folder = dirname(fileURLToPath(import.meta.url))
const root = join(folder, '..', '..')
const dist = join(folder, 'dist')

/** The declarations that the package takes over from the client of this repository. */
const SHARED = ['ClientOptions', 'Retry', 'ApiFailure', 'NoResponse', 'openResponse', 'serverSentEvents', 'toText', 'fromText']

const source = await readFile(join(root, 'api', 'src', 'client.ts'), 'utf8')
const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true }
const client = ts.transpileModule(source, { compilerOptions, fileName: 'client.ts' }).outputText
const types = ts.transpileDeclaration(source, { compilerOptions, fileName: 'client.ts' }).outputText

await mkdir(dist, { recursive: true })
await writeFile(join(dist, 'client.js'), client)
await writeFile(join(dist, 'routes.js'), `export const routes = ${JSON.stringify(clientRoutes(contract))}\n`)
await writeFile(
  join(dist, 'index.js'),
  `import { makeClient } from './client.js'
import { routes } from './routes.js'

export { ApiFailure, fromText, NoResponse, openResponse, serverSentEvents, toText } from './client.js'

export const createClient = (options) => makeClient(routes, options)
`,
)
await writeFile(join(dist, 'index.d.ts'), `${shared(types)}\n${declarationsOf(contract, openApiDocument(contract, { servers: [] }))}`)
await copyFile(join(root, 'LICENSE'), join(dist, 'LICENSE'))

/** Takes the statements of these names from a declaration file. */
function shared(text: string): string {
  const file = ts.createSourceFile('client.d.ts', text, ts.ScriptTarget.Latest, true)
  const named = new Map(
    file.statements.flatMap((statement) => {
      const name = 'name' in statement ? (statement.name as ts.Identifier | undefined)?.text : undefined
      return name === undefined ? [] : [[name, statement.getFullText(file).trim()] as const]
    }),
  )
  const lost = SHARED.filter((name) => !named.has(name))
  if (lost.length > 0) throw new Error(`the client does not declare ${lost.join(', ')}`)
  return SHARED.map((name) => named.get(name)).join('\n')
}
