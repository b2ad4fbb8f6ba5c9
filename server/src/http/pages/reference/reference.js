// The script of the reference page: search, the place in the contents, copying, trying out. Everything works without it but these.

const search = document.querySelector('#finder')
const keyField = document.querySelector('#key')
document.querySelector('#credential').addEventListener('submit', (event) => event.preventDefault())
const contents = document.querySelector('#contents')
const menu = document.querySelector('#menu')
const articles = [...document.querySelectorAll('article')]

// Searching: every word must be found in an article's method, path, sentences or field names.
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

// A link to something that the search has hidden shows it again.
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

// The contents follow the reader: the entry of the topmost article in sight is marked.
const inSight = new Set()
const watcher = new IntersectionObserver(
  (changes) => {
    for (const { target, isIntersecting } of changes) {
      if (isIntersecting) inSight.add(target)
      else inSight.delete(target)
    }
    const top = articles.find((article) => inSight.has(article))
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

// Copying needs a secure context or this machine; without it there is no button.
if (navigator.clipboard) {
  for (const button of document.querySelectorAll('button.copy')) {
    button.hidden = false
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(button.closest('.code').querySelector('pre').textContent)
      button.textContent = 'Copied'
      setTimeout(() => {
        button.textContent = 'Copy'
      }, 1500)
    })
  }
}

// Trying out: the form is made when it is asked for; the key lives in its field and nowhere else.
for (const place of document.querySelectorAll('.try')) {
  const open = make('button', { type: 'button', className: 'plain', textContent: 'Try it' })
  open.addEventListener('click', () => {
    open.remove()
    place.append(formOf(place))
    place.querySelector('input, textarea, button')?.focus()
  })
  place.append(open)
  place.hidden = false
}

function make(name, properties = {}, ...inside) {
  const element = Object.assign(document.createElement(name), properties)
  element.append(...inside)
  return element
}

function formOf(place) {
  const article = place.closest('article')
  const { method, path } = article.dataset
  const form = make('form')
  for (const field of article.querySelectorAll('[data-in]')) {
    const input = make('input', { name: field.dataset.name, required: field.dataset.in === 'path', autocomplete: 'off', spellcheck: false })
    input.dataset.place = field.dataset.in
    form.append(make('label', {}, make('code', { textContent: field.dataset.name }), input))
  }
  if (place.dataset.body !== undefined) {
    const text = make('textarea', { name: 'body', value: place.dataset.body, spellcheck: false })
    text.dataset.type = place.dataset.type
    form.append(make('label', { className: 'tall' }, make('span', { textContent: 'Body' }), text))
  }
  const send = make('button', { type: 'submit', textContent: `Send ${method}` })
  const note = make('span', { className: 'note', textContent: method === 'GET' ? '' : 'This really happens.' })
  form.append(make('div', { className: 'row' }, send, note))
  const outcome = make('div', { className: 'outcome' })
  outcome.setAttribute('aria-live', 'polite')
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    send.disabled = true
    outcome.replaceChildren(make('span', { className: 'note', textContent: 'Waiting for the answer …' }))
    outcome.replaceChildren(...(await attempt(method, path, form)))
    send.disabled = false
    outcome.scrollIntoView({ block: 'nearest' })
  })
  return make('div', {}, form, outcome)
}

const WAIT_MS = 60_000

async function attempt(method, path, form) {
  const fields = [...form.querySelectorAll('input')]
  const inPath = (name) => fields.find((field) => field.dataset.place === 'path' && field.name === name)?.value ?? ''
  const pairs = fields.filter((field) => field.dataset.place === 'query' && field.value !== '').map((field) => [field.name, field.value])
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(inPath(name)))
  const area = form.querySelector('textarea')
  const body = area?.value.trim()
  const started = performance.now()
  try {
    const answer = await fetch(pairs.length > 0 ? `${filled}?${new URLSearchParams(pairs)}` : filled, {
      method,
      headers: { ...credential(), ...(body ? { 'content-type': area.dataset.type } : {}) },
      signal: AbortSignal.timeout(WAIT_MS),
      ...(body ? { body } : {}),
    })
    return shown(answer, await answer.text(), performance.now() - started)
  } catch (thrown) {
    return [make('span', { className: 'status bad', textContent: `No answer: ${thrown.message}` })]
  }
}

function credential() {
  const value = keyField.value.trim()
  if (value === '') return {}
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(value) ? { authorization: `Bearer ${value}` } : { 'x-service-api-key': value }
}

function shown(answer, text, tookMs) {
  const status = make('span', { className: answer.ok ? 'status' : 'status bad', textContent: `${answer.status} ${answer.statusText}` })
  const left = answer.headers.get('ratelimit-remaining')
  const facts = [`${Math.round(tookMs)} ms`, ...(left === null ? [] : [`${left} requests left`])]
  const line = make('div', { className: 'row' }, status, make('span', { className: 'note', textContent: facts.join(' · ') }))
  if (text === '') return [line]
  const isJson = (answer.headers.get('content-type') ?? '').includes('json')
  return [line, make('pre', { tabIndex: 0 }, make('code', { textContent: isJson ? pretty(text) : text }))]
}

/** Indents JSON without reading its numbers, which may be larger than a script can hold. */
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
