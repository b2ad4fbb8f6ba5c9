/** The messages of an event stream, as they arrive together. */
export async function* messagesOf(response: Response): AsyncGenerator<readonly { id: string; data: string }[]> {
  let text = ''
  for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    text += chunk
    const messages = text.split('\n\n')
    text = messages.pop() ?? ''
    yield messages.flatMap((message) => {
      const [, id, data] = /^id: (\S+)\ndata: (.*)$/s.exec(message) ?? []
      return id === undefined || data === undefined ? [] : [{ id, data }]
    })
  }
}
