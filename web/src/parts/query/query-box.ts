import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { loadedOnce } from '../shell/page-code.ts'
import type { Editor, EditorKey, Mark } from './query-editing.ts'
import type { QueryContext } from './suggestions.ts'

export type QueryLineProps = {
  label: string
  text: string
  known: QueryContext
  placeholder?: string
  onText(text: string): void
  /** Runs on Enter; without it, Enter submits the form. */
  onRun?: ((text: string) => void) | undefined
}

/** EditorListeners receive the events of the editor. */
export type EditorListeners = {
  onKey(key: EditorKey, cursor: number): boolean
  onSuggest(text: string, cursor: number): void
  onFocus(isFocused: boolean): void
}

/** A QueryBox holds the plain textarea that is rendered first, and the editor that replaces it. */
export type QueryBox = {
  home: RefObject<HTMLDivElement | null>
  plain: RefObject<HTMLTextAreaElement | null>
  editor: Editor | undefined
  text(): string
  cursor(): number
  write(text: string, cursor: number): void
  focus(): void
}

/** Delays the download of the editor until the first data is loaded; focus starts it at once. */
const AT_REST_MS = 1_000
const USES = ['focus', 'input'] as const

let hasEditor = false
const fetchEditor = loadedOnce(() =>
  import('./query-editing.ts').then(({ openEditor }) => {
    hasEditor = true
    return openEditor
  }),
)

/** Opens the editor with the text, cursor and focus of the textarea. */
export function useQueryBox(props: QueryLineProps, listeners: RefObject<EditorListeners>): QueryBox {
  const home = useRef<HTMLDivElement>(null)
  const plain = useRef<HTMLTextAreaElement>(null)
  const [editor, setEditor] = useState<Editor>()
  const latest = useRef(props)
  latest.current = props
  useEffect(() => {
    let isGone = false
    let opened: Editor | undefined
    const began = latest.current.text
    const open = (openEditor: typeof import('./query-editing.ts')['openEditor']) => {
      if (isGone || opened || !home.current) return
      const { label, placeholder = '' } = latest.current
      const before = plain.current
      const hadFocus = before !== null && document.activeElement === before
      opened = openEditor(home.current, {
        text: before?.value ?? latest.current.text,
        from: before?.selectionStart ?? 0,
        to: before?.selectionEnd ?? 0,
        placeholder,
        attributes: { 'aria-label': label },
        read: (text, notes) => latest.current.known.read(text, notes),
        // Synchronously, so that a key pressed right after, such as Enter, sees the text.
        onText: (text, cursor) =>
          flushSync(() => {
            latest.current.onText(text)
            listeners.current.onSuggest(text, cursor)
          }),
        onClick: (cursor) => listeners.current.onSuggest(opened?.text() ?? '', cursor),
        onKey: (key, cursor) => listeners.current.onKey(key, cursor),
        onFocus: (isFocused) => listeners.current.onFocus(isFocused),
      })
      // First, so that listeners of the textarea's blur see the new focus.
      if (hadFocus) opened.focus()
      if (before) before.hidden = true
      // Suggest for the text that was typed into the textarea.
      if (hadFocus && opened.text() !== began) listeners.current.onSuggest(opened.text(), opened.cursor())
      // At once: the textarea, which is hidden now, takes no focus.
      flushSync(() => setEditor(opened))
    }
    // Without its editor the textarea stays, and works; its next use downloads the editor again.
    const fetch = () => void fetchEditor().then(open, () => undefined)
    const line = plain.current
    const resting = setTimeout(fetch, hasEditor ? 0 : AT_REST_MS)
    for (const use of USES) line?.addEventListener(use, fetch)
    return () => {
      isGone = true
      clearTimeout(resting)
      for (const use of USES) line?.removeEventListener(use, fetch)
      opened?.close()
    }
  }, [listeners])
  useEffect(() => {
    if (editor && editor.text() !== props.text) editor.setText(props.text, props.text.length)
  }, [editor, props.text])
  const write = useCallback(
    (text: string, cursor: number) => {
      editor?.setText(text, cursor)
      latest.current.onText(text)
    },
    [editor],
  )
  return useMemo(
    () => ({
      home,
      plain,
      editor,
      write,
      text: () => editor?.text() ?? latest.current.text,
      cursor: () => editor?.cursor() ?? latest.current.text.length,
      focus: () => (editor ? editor.focus() : focusEnd(plain.current)),
    }),
    [editor, write],
  )
}

/** Moves the cursor to the end, unless the line has the focus already. */
function focusEnd(line: HTMLTextAreaElement | null): void {
  if (!line || document.activeElement === line) return
  line.focus()
  line.setSelectionRange(line.value.length, line.value.length)
}

/** useEditorAttributes syncs the error mark and the ARIA attributes. */
export function useEditorAttributes(editor: Editor | undefined, mark: Mark | undefined, attributes: Record<string, string>): void {
  const shown = JSON.stringify(attributes)
  useEffect(() => editor?.setAttributes(JSON.parse(shown)), [editor, shown])
  const { position, length, title } = mark ?? {}
  useEffect(() => {
    if (position === undefined || length === undefined || title === undefined) editor?.setMark(undefined)
    else editor?.setMark({ position, length, title })
  }, [editor, position, length, title])
}
