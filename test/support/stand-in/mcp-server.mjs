// A server of the Model Context Protocol over stdio, with tools that succeed, fail, wait, and show a picture.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

const server = new McpServer({ name: 'stand-in', version: '1' })
const text = (value) => ({ content: [{ type: 'text', text: value }] })
server.registerTool(
  'add',
  { description: 'Adds two numbers.', inputSchema: { a: z.number(), b: z.number() } },
  async ({ a, b }) => text(String(a + b)),
)
server.registerTool('where', { description: 'Says where it runs.' }, async () =>
  text(`${process.cwd()} ${process.env.GREETING ?? ''} ${process.env.HOST_SECRET ?? ''}`),
)
server.registerTool('fail', { description: 'Fails.' }, async () => ({
  isError: true,
  ...text('it went wrong'),
}))
server.registerTool('wait', { description: 'Waits.' }, () => new Promise(() => undefined))
server.registerTool('picture', { description: 'Shows a picture.' }, async () => ({
  content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }],
}))
process.stdout.write('hello, this line is no message\n')
await server.connect(new StdioServerTransport())
