import { fillSenderConfig, senders } from '@dendro/api/senders'
import { useRef, useState } from 'react'
import { useClient } from '../shell/client.ts'
import { CopyButton } from '../shell/copy-button.tsx'
import { useMay } from '../shell/permitted.tsx'

/** The number of senders that are shown at once; the others are in a section that opens. */
const FIRST_SENDERS = 4

/** The files of `api/senders/` by name. */
const files: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(import.meta.glob<string>('../../../../api/senders/*', { query: '?raw', import: 'default', eager: true })).map(
    ([path, text]) => [path.slice(path.lastIndexOf('/') + 1), text],
  ),
)

/** A ShipperKey is the key of the configurations; create returns it, or throws why it could not be created. */
export type ShipperKey = { apiKey: string | undefined; create(): Promise<string> }

/** Creates one key that can only send events, however often it is asked for. */
export function useShipperKey(): ShipperKey {
  const client = useClient()
  const [apiKey, setApiKey] = useState<string>()
  const created = useRef<Promise<string>>(undefined)
  const create = () => {
    created.current ??= client.apiKeys.create({ body: { name: 'Shippers', roles: ['IngestionApi'] } }).then(
      ({ key }) => {
        setApiKey(key)
        return key
      },
      (thrown) => {
        created.current = undefined
        throw thrown
      },
    )
    return created.current
  }
  return { apiKey, create }
}

/** Shows the configurations of senders with the address of the service. Copying one creates the key first, if there is none. */
export function Shippers({ apiKey, create }: ShipperKey) {
  const may = useMay()
  const isCreating = apiKey === undefined && may('api_keys_write')
  const configsWith = (key: string) => {
    const place = { url: location.origin, key }
    return senders.map(({ file, title, use, listener }) => ({
      title,
      use: listener === undefined ? use : `${use} The service needs DENDRO_LISTENERS="${fillSenderConfig(listener, place)}".`,
      text: fillSenderConfig(files[file] ?? '', place).trimEnd(),
    }))
  }
  const configs = configsWith(apiKey ?? 'YOUR_KEY')
  const textOf = ({ title, text }: SenderConfigText) =>
    isCreating ? create().then((key) => configsWith(key).find((one) => one.title === title)?.text ?? text) : text
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <p className="text-soft">
        {isCreating
          ? 'Copying creates an API key that can only send events, and puts it in place of YOUR_KEY. Settings lists it as “Shippers”.'
          : apiKey === undefined
            ? 'Replace YOUR_KEY by an API key that can send events; an administrator can create one.'
            : 'The key is in the configurations below. It can only send events, and is shown on this page only now.'}
      </p>
      <SenderList configs={configs.slice(0, FIRST_SENDERS)} isCreating={isCreating} textOf={textOf} />
      <details>
        <summary className="cursor-pointer text-soft">{configs.length - FIRST_SENDERS} more senders</summary>
        <div className="pt-3">
          <SenderList configs={configs.slice(FIRST_SENDERS)} isCreating={isCreating} textOf={textOf} />
        </div>
      </details>
    </div>
  )
}

type SenderConfigText = { title: string; use: string; text: string }
type SenderListProps = {
  configs: readonly SenderConfigText[]
  isCreating: boolean
  /** The text with the key, which may have to be created. */
  textOf(config: SenderConfigText): string | Promise<string>
}

const SenderList = ({ configs, isCreating, textOf }: SenderListProps) => (
  <ul className="grid min-w-0 grid-cols-[repeat(auto-fit,minmax(min(27rem,100%),1fr))] gap-3">
    {configs.map((config) => (
      <li key={config.title} className="min-w-0 rounded-md border border-line bg-panel p-3">
        <div className="mb-1 flex flex-wrap items-center gap-2">
          <h3 className="mr-auto font-medium">{config.title}</h3>
          <CopyButton size="small" of={`the configuration for ${config.title}`} text={() => textOf(config)} content={config.title}>
            {isCreating ? 'Copy with a new key' : 'Copy'}
          </CopyButton>
        </div>
        <p className="mb-1 text-soft">{config.use}</p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long line is scrolled by keyboard too */}
        <pre tabIndex={0} className="max-h-80 overflow-auto rounded bg-sunk p-2 font-mono text-xs">
          {config.text}
        </pre>
      </li>
    ))}
  </ul>
)
