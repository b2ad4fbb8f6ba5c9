/** Builds the packed program: one bundle of JavaScript for Node 18, without dependencies, and the licenses of the packages in it. */
import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const folder = dirname(fileURLToPath(import.meta.url))

const output = await build({
  root: folder,
  configFile: false,
  logLevel: 'warn',
  ssr: { noExternal: true },
  build: {
    ssr: 'src/main.ts',
    outDir: 'dist',
    target: 'node18',
    rolldownOptions: { output: { entryFileNames: 'main.js', chunkFileNames: '[name].js' } },
  },
})
const bundles = Array.isArray(output) ? output : [output]
const modules = bundles.flatMap((bundle) =>
  'output' in bundle ? bundle.output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : [])) : [],
)
const packages = new Set(modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []))
await writeFile(join(folder, 'dist', 'THIRD-PARTY.txt'), (await Promise.all([...packages].sort().map(noticeOf))).join('\n\n'))
await copyFile(join(folder, '..', 'LICENSE'), join(folder, 'dist', 'LICENSE'))

/** The name, version and license text of a bundled package. */
async function noticeOf(home: string): Promise<string> {
  const { name, version, license } = JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) as Record<string, string>
  const file = (await readdir(home)).find((one) => /^licen[cs]e/i.test(one))
  if (file === undefined) throw new Error(`${name} has no license file`)
  return `${name} ${version} (${license})\n\n${await readFile(join(home, file), 'utf8')}`
}
