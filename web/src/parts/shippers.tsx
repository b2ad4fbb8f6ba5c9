import { Button } from '../ui/button.tsx'
import { copyText } from './copy.ts'

/** Shippers shows ready configurations of common shippers, with the key if one was created. */
export function Shippers({ apiKey }: { apiKey?: string | undefined }) {
  return (
    <ul className="grid min-w-0 grid-cols-[repeat(auto-fit,minmax(min(27rem,100%),1fr))] gap-3">
      {configurationsFor(location.origin, apiKey ?? 'YOUR KEY').map(({ name, text }) => (
        <li key={name} className="min-w-0 rounded-md border border-line bg-panel p-3">
          <div className="mb-1 flex items-center justify-between">
            <h3 className="font-medium">{name}</h3>
            <Button size="small" onClick={() => copyText(text)} aria-label={`Copy the configuration for ${name}`}>
              Copy
            </Button>
          </div>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long line is scrolled by keyboard too */}
          <pre tabIndex={0} className="overflow-x-auto rounded bg-sunk p-2 font-mono text-xs">
            {text}
          </pre>
        </li>
      ))}
    </ul>
  )
}

const configurationsFor = (origin: string, key: string): { name: string; text: string }[] => {
  const { hostname, port, protocol } = new URL(origin)
  const number = port || (protocol === 'https:' ? '443' : '80')
  return [
    {
      name: 'curl',
      text: `curl ${origin}/ingest \\\n    -H 'X-SERVICE-API-KEY: ${key}' \\\n    -H 'x-service-dataset: web' \\\n    -d '{"message": "hello"}'`,
    },
    {
      name: 'OpenTelemetry Collector',
      text: `exporters:\n  otlphttp/dendro:\n    endpoint: ${origin}\n    headers:\n      X-SERVICE-API-KEY: ${key}`,
    },
    {
      name: 'Fluent Bit',
      text: `[OUTPUT]\n    Name   http\n    Match  *\n    Host   ${hostname}\n    Port   ${number}\n    URI    /ingest\n    Format json_lines\n    Header X-SERVICE-API-KEY ${key}\n    Header x-service-dataset web`,
    },
    {
      name: 'rsyslog',
      text: `module(load="omelasticsearch")\naction(type="omelasticsearch" server="${hostname}" serverport="${number}"\n  bulkmode="on" searchIndex="syslog" uid="key" pwd="${key}")`,
    },
  ]
}
