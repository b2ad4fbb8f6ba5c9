import { useQuery } from '@tanstack/react-query'
import { Dialog } from 'radix-ui'
import { createContext, type KeyboardEvent, type ReactNode, useContext, useEffect, useId, useMemo, useRef, useState } from 'react'
import { Modal } from '../../ui/modal.tsx'
import { count } from '../chart/numbers.ts'
import { useSettled } from '../query/settled.ts'
import { hasWords } from '../records/has-words.ts'

/** A Command is an action of the command palette. */
export type Command = { name: string; group: string; note?: string; run(): unknown }

type CommandSource = {
  commands(): readonly Command[]
  /** Finds commands that are too many to list. */
  find?: ((words: string, signal: AbortSignal) => Promise<readonly Command[]>) | undefined
}
const CommandsContext = createContext<{ register(source: CommandSource): () => void } | undefined>(undefined)

const SHOWN_MAX = 60
/** The pause in typing after which the service searches. */
const SETTLE_MS = 200

/** The palette that Ctrl-K opens, with the commands of the frame and of the page. */
export function Commands({ own, children }: { own: readonly Command[]; children: ReactNode }) {
  const sources = useRef(new Set<CommandSource>())
  const [isOpen, setOpen] = useState(false)
  const registry = useMemo(
    () => ({
      register: (source: CommandSource) => {
        sources.current.add(source)
        return () => void sources.current.delete(source)
      },
    }),
    [],
  )
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'k' || event.altKey || event.shiftKey) return
      event.preventDefault()
      setOpen((before) => !before)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return (
    <CommandsContext.Provider value={registry}>
      {children}
      {isOpen && (
        <Palette
          all={[...[...sources.current].flatMap((one) => one.commands()), ...own]}
          sources={[...sources.current]}
          onClose={() => setOpen(false)}
        />
      )}
    </CommandsContext.Provider>
  )
}

/** Adds commands while the calling page is mounted. */
export function useCommands(commands: CommandSource['commands'], find?: CommandSource['find']): void {
  const registry = useContext(CommandsContext)
  const latest = useRef<CommandSource>({ commands, find })
  latest.current = { commands, find }
  useEffect(
    () =>
      registry?.register({
        commands: () => latest.current.commands(),
        find: async (words, signal) => (await latest.current.find?.(words, signal)) ?? [],
      }),
    [registry],
  )
}

/** The commands that are found by the typed words and not listed. */
function useFoundCommands(sources: readonly CommandSource[], words: string): readonly Command[] {
  const settled = useSettled(words.trim(), SETTLE_MS)
  const { data } = useQuery({
    queryKey: ['commands', settled],
    enabled: settled !== '',
    queryFn: async ({ signal }) => (await Promise.all(sources.map(({ find }) => find?.(settled, signal) ?? []))).flat(),
    gcTime: 0,
  })
  return settled === words.trim() ? (data ?? []) : []
}

type PaletteProps = { all: readonly Command[]; sources: readonly CommandSource[]; onClose(): void }

function Palette({ all, sources, onClose }: PaletteProps) {
  const [filter, setFilter] = useState('')
  const [at, setAt] = useState(0)
  const id = useId()
  const listed = all.filter(({ name, group }) => hasWords(`${group} ${name}`, filter))
  const keys = new Set(listed.map(keyOf))
  const matching = [...listed, ...useFoundCommands(sources, filter).filter((one) => !keys.has(keyOf(one)))]
  const found = matching.slice(0, SHOWN_MAX)
  const run = (command: Command | undefined) => {
    if (!command) return
    onClose()
    // After the dialog has returned the focus, in a timer that starts when it closes, so that a command can move it.
    setTimeout(() => setTimeout(() => command.run()))
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setAt(Math.min(found.length - 1, at + 1))
    else if (event.key === 'ArrowUp') setAt(Math.max(0, at - 1))
    else if (event.key === 'Enter') run(found[at])
    else return
    event.preventDefault()
  }
  return (
    <Modal
      onClose={onClose}
      className="top-24 left-1/2 z-50 flex max-h-[70vh] w-140 max-w-[92vw] -translate-x-1/2 flex-col rounded-lg border bg-panel"
    >
      <Dialog.Title className="sr-only">Commands</Dialog.Title>
      <input
        role="combobox"
        aria-expanded
        aria-controls={id}
        aria-activedescendant={found.length > 0 ? `${id}-${at}` : undefined}
        aria-autocomplete="list"
        aria-label="Type a command"
        className="h-11 shrink-0 rounded-t-lg border-line border-b bg-transparent px-4"
        placeholder="Type a command"
        value={filter}
        onChange={(event) => {
          setFilter(event.target.value)
          setAt(0)
        }}
        onKeyDown={onKey}
      />
      <div id={id} role="listbox" aria-label="Commands" className="min-h-0 overflow-auto p-1">
        {found.map((command, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: Enter runs the active option
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the input; the arrow keys move the active option
          <div
            key={keyOf(command)}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === at}
            ref={index === at ? scrollHere : undefined}
            className="flex cursor-pointer items-baseline gap-3 rounded px-3 py-1 aria-selected:bg-tint"
            onClick={() => run(command)}
          >
            <span className="w-20 shrink-0 text-soft text-xs">{command.group}</span>
            <span className="min-w-0 flex-1 truncate">{command.name}</span>
            {command.note && <span className="shrink-0 text-soft text-xs">{command.note}</span>}
          </div>
        ))}
      </div>
      {matching.length > found.length && (
        <p className="border-line border-t px-4 py-1.5 text-soft text-xs">
          {count(matching.length - found.length)} more; keep typing to find them
        </p>
      )}
      {found.length === 0 && <p className="px-4 py-3 text-soft">No command matches.</p>}
    </Modal>
  )
}

const keyOf = ({ group, name }: Command): string => `${group} ${name}`

const scrollHere = (option: HTMLElement | null): void => option?.scrollIntoView({ block: 'nearest' })
