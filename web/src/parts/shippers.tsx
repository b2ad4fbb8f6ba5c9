import { fillSenderConfig, senders } from '@dendro/api/senders'
import { Button } from '../ui/button.tsx'
import { copyText } from './copy.ts'

/** The number of senders that are shown at once; the others are in a section that opens. */
const FIRST_SENDERS = 4

/** The files of `api/senders/` by name. */
const files: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(import.meta.glob<string>('../../../api/senders/*', { query: '?raw', import: 'default', eager: true })).map(
    ([path, text]) => [path.slice(path.lastIndexOf('/') + 1), text],
  ),
)

/** Shippers shows the configurations of senders, with the address of the service, and with the key if one was created. */
export function Shippers({ apiKey }: { apiKey?: string | undefined }) {
  const place = { url: location.origin, key: apiKey ?? 'YOUR_KEY' }
  const configs = senders.map(({ file, title, use, listener }) => ({
    title,
    use: listener === undefined ? use : `${use} The service needs DENDRO_LISTENERS="${fillSenderConfig(listener, place)}".`,
    text: fillSenderConfig(files[file] ?? '', place).trimEnd(),
  }))
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <SenderList configs={configs.slice(0, FIRST_SENDERS)} />
      <details>
        <summary className="cursor-pointer text-soft">{configs.length - FIRST_SENDERS} more senders</summary>
        <div className="pt-3">
          <SenderList configs={configs.slice(FIRST_SENDERS)} />
        </div>
      </details>
    </div>
  )
}

const SenderList = ({ configs }: { configs: readonly { title: string; use: string; text: string }[] }) => (
  <ul className="grid min-w-0 grid-cols-[repeat(auto-fit,minmax(min(27rem,100%),1fr))] gap-3">
    {configs.map(({ title, use, text }) => (
      <li key={title} className="min-w-0 rounded-md border border-line bg-panel p-3">
        <div className="mb-1 flex items-center justify-between">
          <h3 className="font-medium">{title}</h3>
          <Button size="small" onClick={() => copyText(text)} aria-label={`Copy the configuration for ${title}`}>
            Copy
          </Button>
        </div>
        <p className="mb-1 text-soft">{use}</p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long line is scrolled by keyboard too */}
        <pre tabIndex={0} className="max-h-80 overflow-auto rounded bg-sunk p-2 font-mono text-xs">
          {text}
        </pre>
      </li>
    ))}
  </ul>
)
