import type { FieldDiagnostic } from '@dendro/language/language-error'
import { type KeyboardEvent, type Ref, useImperativeHandle } from 'react'
import { Button } from '../../ui/button.tsx'
import { fixName } from './fix-name.ts'
import type { QueryLineProps } from './query-box.ts'
import { useQueryLine } from './query-line.ts'
import type { Suggestion } from './suggestions.ts'

/** The imperative handle of a query line. */
export type QueryFocus = { focus(): void }

/** A line of the query language with highlighting, suggestions and error marks. */
export function QueryInput({ ref, ...props }: QueryLineProps & { ref?: Ref<QueryFocus> | undefined }) {
  const line = useQueryLine(props)
  const { id, box, list, problem } = line
  useImperativeHandle(ref, () => ({ focus: box.focus }), [box])
  const onPlainKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    line.run()
  }
  return (
    <div className="relative min-w-0 flex-1">
      <div className="min-h-8 w-full rounded border border-line bg-ground font-mono text-sm outline-accent focus-within:outline-2 focus-within:outline-offset-1">
        <div ref={box.home} />
        {!box.editor && (
          <textarea
            ref={box.plain}
            rows={1}
            className="block h-[30px] w-full resize-none overflow-hidden bg-transparent px-2 py-[5px] leading-5 outline-none placeholder:font-sans placeholder:text-soft"
            aria-label={props.label}
            placeholder={props.placeholder}
            spellCheck={false}
            autoComplete="off"
            value={props.text}
            onChange={(event) => props.onText(event.target.value)}
            onKeyDown={onPlainKey}
          />
        )}
      </div>
      <Suggestions id={id} suggestions={list?.suggestions ?? []} at={list?.at ?? -1} onTake={line.take} />
      {problem && list === undefined && <Problem id={`${id}-problem`} problem={problem} onFix={() => line.fix?.()} />}
    </div>
  )
}

/** A labeled QueryInput. */
export function QueryField({ className = '', ...props }: QueryLineProps & { className?: string; ref?: Ref<QueryFocus> | undefined }) {
  return (
    <div className={`flex min-w-0 flex-col gap-0.5 ${className}`}>
      <span className="text-soft text-xs" aria-hidden="true">
        {props.label}
      </span>
      <QueryInput {...props} />
    </div>
  )
}

type SuggestionsProps = { id: string; suggestions: readonly Suggestion[]; at: number; onTake(suggestion: Suggestion): void }

const Suggestions = ({ id, suggestions, at, onTake }: SuggestionsProps) => (
  <div
    id={id}
    role="listbox"
    aria-label="Completions"
    hidden={suggestions.length === 0}
    className="absolute top-full left-0 z-30 mt-1 max-h-80 w-full min-w-56 max-w-md overflow-auto rounded-md border border-line bg-panel p-1 shadow-lg"
  >
    {suggestions.map((suggestion, index) => (
      // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the input; the arrow keys move the active option
      // biome-ignore lint/a11y/useKeyWithClickEvents: Tab accepts the active option
      <div
        key={suggestion.label}
        id={`${id}-${index}`}
        role="option"
        aria-selected={index === at}
        className="flex cursor-pointer justify-between gap-4 rounded px-2 py-0.5 font-mono text-xs aria-selected:bg-tint"
        onMouseDown={(event) => event.preventDefault()}
        onClick={() => onTake(suggestion)}
      >
        <span className="truncate">{suggestion.label}</span>
        <span className="shrink-0 font-sans text-soft">{suggestion.note}</span>
      </div>
    ))}
  </div>
)

/** Shows the error at the mark with its fix. */
const Problem = ({ id, problem, onFix }: { id: string; problem: FieldDiagnostic; onFix(): void }) => (
  <div
    id={id}
    role="status"
    className="absolute top-full left-0 z-30 mt-1 flex max-w-full flex-col items-start gap-1 rounded-md border border-error/50 bg-panel px-2 py-1 text-sm shadow-lg sm:max-w-xl"
  >
    <span className="text-error">
      {problem.message}
      {problem.hint ? `: ${problem.hint}` : ''}
    </span>
    {problem.fix && (
      <Button size="small" onMouseDown={(event) => event.preventDefault()} onClick={onFix}>
        Change to <code className="font-mono">{fixName(problem.fix.text)}</code> <kbd className="text-soft">Alt-Enter</kbd>
      </Button>
    )}
  </div>
)
