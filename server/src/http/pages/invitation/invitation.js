// The page behind the one-time link of an invitation. The token leaves the address bar at once, so that it is not bookmarked or shared.
const token = new URLSearchParams(location.search).get('token') ?? ''
history.replaceState(null, '', location.pathname)

const find = (id) => document.getElementById(id)
const form = find('invitation')
const trouble = find('trouble')

function tell(sentence) {
  trouble.textContent = sentence
  trouble.hidden = sentence === ''
}

if (token === '') tell('This link has no token. Open the link of your invitation again, as it stands in the mail.')

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const password = find('password').value
  if (password !== find('again').value) return tell('The two passwords differ.')
  const button = form.querySelector('button')
  button.disabled = true
  tell('')
  try {
    const answer = await fetch('/auth/accept-invite', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, password }),
    })
    const body = await answer.json()
    if (!answer.ok) return tell(`${body.details[0].toUpperCase()}${body.details.slice(1)}.`)
    find('email').textContent = body.user.email
    form.hidden = true
    find('done').hidden = false
  } catch {
    tell('The service cannot be reached just now. Your link is still good: try again in a moment.')
  } finally {
    button.disabled = false
  }
})
