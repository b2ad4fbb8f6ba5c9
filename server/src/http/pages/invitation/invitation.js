// The token is removed from the address bar at once, so that it is not bookmarked or shared.
const token = new URLSearchParams(location.search).get('token') ?? ''
history.replaceState(null, '', location.pathname)

const find = (id) => document.getElementById(id)
const form = find('invitation')
const problem = find('problem')

function showProblem(sentence) {
  problem.textContent = sentence
  problem.hidden = sentence === ''
}

if (token === '') showProblem('This link has no token. Open the complete link of your invitation.')

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const password = find('password').value
  if (password !== find('again').value) return showProblem('The two passwords differ.')
  const button = form.querySelector('button')
  button.disabled = true
  showProblem('')
  try {
    const answer = await fetch('/auth/accept-invite', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, password }),
    })
    const body = await answer.json()
    if (!answer.ok) return showProblem(`${body.details[0].toUpperCase()}${body.details.slice(1)}.`)
    find('email').textContent = body.user.email
    form.hidden = true
    find('done').hidden = false
  } catch {
    showProblem('The service did not answer. Your link is still valid: try again in a moment.')
  } finally {
    button.disabled = false
  }
})
