// The script of the reference page: search, scroll position in the contents, copying, and sending requests. The text needs none of it.

const search = document.querySelector('#finder')
const keyField = document.querySelector('#key')
document.querySelector('#credential').addEventListener('submit', (event) => event.preventDefault())
const contents = document.querySelector('#contents')
const menu = document.querySelector('#menu')

// The theme and the session of the web app, under the names that web/src stores them by.
const theme = localStorage.getItem('dendro.theme')
if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
const stored = sessionStorage.getItem('dendro.credential') ?? localStorage.getItem('dendro.credential')
const session = stored?.split(' ', 2)[1] ?? ''
if (session !== '') keyField.placeholder = 'Signed in; or another key or token'

const articles = [...document.querySelectorAll('article')]

// Search: an article matches when its method, path, sentences or field names contain every word.
const texts = new Map(articles.map((article) => [article, wordsOf(article)]))

function wordsOf(article) {
  const parts = [...article.querySelectorAll('h3, p, dt, .value, .type')].map((part) => part.textContent)
  return `${article.id} ${parts.join(' ')}`.toLowerCase()
}

function find() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean)
  const fits = (article) => words.every((word) => texts.get(article).includes(word))
  let found = 0
  for (const article of articles) {
    article.hidden = !fits(article)
    if (!article.hidden) found += 1
    const entry = contents.querySelector(`[data-for="${CSS.escape(article.id)}"]`)
    if (entry) entry.hidden = article.hidden
  }
  for (const group of document.querySelectorAll('section.group')) {
    const own = [...group.querySelectorAll('article')]
    group.hidden = words.length > 0 && own.every((article) => article.hidden)
  }
  for (const part of contents.querySelectorAll('.part')) {
    part.hidden = [...part.querySelectorAll('.entry')].every((entry) => entry.hidden)
  }
  document.querySelector('#nothing').hidden = found > 0
}

search.addEventListener('input', () => {
  find()
  if (search.value) window.scrollTo({ top: 0 })
})
search.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    search.value = ''
    find()
    search.blur()
  }
})
document.addEventListener('keydown', (event) => {
  const typing = event.target instanceof HTMLElement && event.target.matches('input, textarea')
  if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  search.focus()
})

// A link to an article that the search has hidden clears the search.
window.addEventListener('hashchange', () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (!target?.closest('[hidden]')) return
  search.value = ''
  find()
  target.scrollIntoView()
})

menu.addEventListener('click', () => showContents(!contents.classList.contains('open')))
contents.addEventListener('click', (event) => {
  if (event.target instanceof Element && event.target.closest('a')) showContents(false)
})
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') showContents(false)
})

function showContents(open) {
  contents.classList.toggle('open', open)
  menu.setAttribute('aria-expanded', String(open))
  if (open) contents.querySelector('.here')?.scrollIntoView({ block: 'center' })
}

// The contents mark the entry of the topmost visible article.
const visible = new Set()
const watcher = new IntersectionObserver(
  (changes) => {
    for (const { target, isIntersecting } of changes) {
      if (isIntersecting) visible.add(target)
      else visible.delete(target)
    }
    const top = articles.find((article) => visible.has(article))
    const entry = top && contents.querySelector(`[data-for="${CSS.escape(top.id)}"]`)
    const before = contents.querySelector('.here')
    if (entry === before) return
    before?.classList.remove('here')
    if (!entry) return
    entry.classList.add('here')
    if (entry.offsetParent === null) return
    const { top: entryTop, bottom } = entry.getBoundingClientRect()
    const frame = contents.getBoundingClientRect()
    if (entryTop < frame.top || bottom > frame.bottom) contents.scrollTop += entryTop - frame.top - frame.height / 3
  },
  { rootMargin: '-15% 0px -60% 0px' },
)
for (const article of articles) watcher.observe(article)

// The Clipboard API needs a secure context; elsewhere there is no button.
if (navigator.clipboard) {
  for (const button of document.querySelectorAll('button.copy')) {
    button.hidden = false
    button.addEventListener('click', async () => {
      await copyText(button, button.closest('.code').querySelector('pre').textContent)
    })
  }
}

/** The button shows how copying went, until something else is copied. */
async function copyText(button, text) {
  for (const other of document.querySelectorAll('button[data-label]')) other.textContent = other.dataset.label
  button.dataset.label ??= button.textContent
  button.textContent = await navigator.clipboard.writeText(text).then(
    () => 'Copied',
    () => 'Not copied: the browser refused',
  )
}

// The form of a request is built when it is opened. The entered key stays in its field.
for (const holder of document.querySelectorAll('.try')) {
  const open = element('button', { type: 'button', className: 'plain', textContent: 'Try it' })
  open.addEventListener('click', () => {
    open.remove()
    holder.append(formOf(holder))
    holder.querySelector('input, textarea, button')?.focus()
  })
  holder.append(open)
  holder.hidden = false
}

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

function formOf(holder) {
  const article = holder.closest('article')
  const { method, path } = article.dataset
  const form = element('form')
  for (const field of article.querySelectorAll('[data-in]')) {
    const input = element('input', {
      name: field.dataset.name,
      required: field.dataset.in === 'path',
      autocomplete: 'off',
      spellcheck: false,
    })
    input.dataset.in = field.dataset.in
    form.append(element('label', {}, element('code', { textContent: field.dataset.name }), input))
  }
  if (holder.dataset.body !== undefined) {
    const text = element('textarea', { name: 'body', value: holder.dataset.body, spellcheck: false })
    text.dataset.type = holder.dataset.type
    form.append(element('label', { className: 'tall' }, element('span', { textContent: 'Body' }), text))
  }
  const send = element('button', { type: 'submit', textContent: `Send ${method}` })
  const copy = element('button', { type: 'button', className: 'plain', textContent: 'Copy as curl', hidden: !navigator.clipboard })
  copy.addEventListener('click', async () => {
    await copyText(copy, curlOf(requestOf(method, path, form)))
  })
  const note = element('span', { className: 'note', textContent: method === 'GET' ? '' : 'This changes the data of the service.' })
  form.append(element('div', { className: 'row' }, send, copy, note))
  const result = element('div', { className: 'outcome' })
  result.setAttribute('aria-live', 'polite')
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    send.disabled = true
    result.replaceChildren(element('span', { className: 'note', textContent: 'Working…' }))
    result.replaceChildren(...(await sendRequest(requestOf(method, path, form))))
    send.disabled = false
    result.scrollIntoView({ block: 'nearest' })
  })
  return element('div', {}, form, result)
}

function requestOf(method, path, form) {
  const inputs = [...form.querySelectorAll('input')]
  const inPath = (name) => inputs.find((input) => input.dataset.in === 'path' && input.name === name)?.value ?? ''
  const pairs = inputs.filter((input) => input.dataset.in === 'query' && input.value !== '').map((input) => [input.name, input.value])
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(inPath(name)))
  const area = form.querySelector('textarea')
  const body = area?.value.trim()
  return {
    method,
    url: pairs.length > 0 ? `${filled}?${new URLSearchParams(pairs)}` : filled,
    ...(body ? { body, type: area.dataset.type } : {}),
  }
}

/** The copied request contains no credential, since commands are pasted where others read them. */
function curlOf({ method, url, body, type }) {
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`
  const lines = [`curl -X ${method} ${quoted(location.origin + url)}`, '-H "X-SERVICE-API-KEY: $DENDRO_API_KEY"']
  if (body) lines.push(`-H 'Content-Type: ${type}'`, `-d ${quoted(body)}`)
  return lines.join(' \\\n  ')
}

const TIMEOUT_MS = 60_000

async function sendRequest({ method, url, body, type }) {
  const startMs = performance.now()
  try {
    const response = await fetch(url, {
      method,
      headers: { ...credentialHeader(), ...(body ? { 'content-type': type } : {}) },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body ? { body } : {}),
    })
    return resultOf(response, await response.text(), performance.now() - startMs)
  } catch (thrown) {
    return [element('span', { className: 'status bad', textContent: `No answer: ${thrown.message}` })]
  }
}

/** The entered credential, or the session of the web app. */
function credentialHeader() {
  const value = keyField.value.trim() || session
  if (value === '') return {}
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(value) ? { authorization: `Bearer ${value}` } : { 'x-service-api-key': value }
}

function resultOf(response, text, durationMs) {
  const className = response.ok ? 'status' : 'status bad'
  const status = element('span', { className, textContent: `${response.status} ${response.statusText}` })
  const remaining = response.headers.get('ratelimit-remaining')
  const facts = [`${Math.round(durationMs)} ms`, ...(remaining === null ? [] : [`${remaining} requests left`])]
  const line = element('div', { className: 'row' }, status, element('span', { className: 'note', textContent: facts.join(' · ') }))
  if (text === '') return [line]
  const isJson = (response.headers.get('content-type') ?? '').includes('json')
  return [line, element('pre', { tabIndex: 0 }, element('code', { textContent: isJson ? pretty(text) : text }))]
}

/** Indents JSON without reading its numbers, which may exceed the precision of a script. */
function pretty(text) {
  let depth = 0
  const indented = () => `\n${'  '.repeat(depth)}`
  return text.replaceAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{[]\s*[}\]]|[{}[\],:]/g, (piece) => {
    if (piece === '{' || piece === '[') {
      depth += 1
      return piece + indented()
    }
    if (piece === '}' || piece === ']') {
      depth -= 1
      return indented() + piece
    }
    if (piece === ',') return piece + indented()
    return piece === ':' ? ': ' : piece
  })
}
