// A command-line agent: asks a model for commands and runs them, over the official SDK of the protocol that it is told.
// cli.mjs PROTOCOL[:stream] PROMPT
import { execSync } from 'node:child_process'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'

const DESCRIPTION = 'Runs a shell command.'
const PARAMETERS = { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] }
const SYSTEM = 'You are a careful assistant.'

function run({ command }) {
  try {
    return execSync(command, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  } catch (error) {
    return `failed: ${error.message}`
  }
}

async function openaiChat(prompt, stream) {
  const client = new OpenAI()
  const tools = [
    { type: 'function', function: { name: 'shell', description: DESCRIPTION, parameters: PARAMETERS } },
  ]
  const messages = [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: prompt },
  ]
  for (;;) {
    const request = { model: 'gpt-stand-in', messages, tools }
    const { choices } = stream
      ? await client.chat.completions.stream(request).finalChatCompletion()
      : await client.chat.completions.create(request)
    const [{ message }] = choices
    messages.push(message)
    if (!message.tool_calls?.length) return message.content
    for (const { id, function: call } of message.tool_calls)
      messages.push({ role: 'tool', tool_call_id: id, content: run(JSON.parse(call.arguments)) })
  }
}

async function openaiResponses(prompt, stream) {
  const client = new OpenAI()
  const tools = [{ type: 'function', name: 'shell', description: DESCRIPTION, parameters: PARAMETERS }]
  const input = [{ role: 'user', content: prompt }]
  for (;;) {
    const request = { model: 'gpt-stand-in', instructions: SYSTEM, input, tools, store: false }
    const response = stream
      ? await client.responses.stream(request).finalResponse()
      : await client.responses.create(request)
    input.push(...response.output)
    const calls = response.output.filter(({ type }) => type === 'function_call')
    if (calls.length === 0) return response.output_text
    for (const { call_id, arguments: given } of calls)
      input.push({ type: 'function_call_output', call_id, output: run(JSON.parse(given)) })
  }
}

async function anthropic(prompt, stream) {
  const client = new Anthropic()
  const tools = [{ name: 'shell', description: DESCRIPTION, input_schema: PARAMETERS }]
  const messages = [{ role: 'user', content: prompt }]
  for (;;) {
    const request = { model: 'claude-stand-in', max_tokens: 1000, system: SYSTEM, messages, tools }
    const { content } = stream
      ? await client.messages.stream(request).finalMessage()
      : await client.messages.create(request)
    messages.push({ role: 'assistant', content })
    const calls = content.filter(({ type }) => type === 'tool_use')
    if (calls.length === 0) return content.map(({ text = '' }) => text).join('')
    const results = calls.map(({ id, input }) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: run(input),
    }))
    messages.push({ role: 'user', content: results })
  }
}

async function google(prompt, stream) {
  const client = new GoogleGenAI({})
  const config = {
    systemInstruction: SYSTEM,
    tools: [
      {
        functionDeclarations: [{ name: 'shell', description: DESCRIPTION, parametersJsonSchema: PARAMETERS }],
      },
    ],
  }
  const contents = [{ role: 'user', parts: [{ text: prompt }] }]
  for (;;) {
    const request = { model: 'gemini-stand-in', contents, config }
    const parts = []
    const answers = stream
      ? await client.models.generateContentStream(request)
      : [await client.models.generateContent(request)]
    for await (const { candidates } of answers) parts.push(...candidates[0].content.parts)
    contents.push({ role: 'model', parts })
    const calls = parts.flatMap(({ functionCall }) => functionCall ?? [])
    if (calls.length === 0) return parts.map(({ text = '' }) => text).join('')
    const results = calls.map(({ id, name, args }) => ({
      functionResponse: { id, name, response: { output: run(args) } },
    }))
    contents.push({ role: 'user', parts: results })
  }
}

const PROTOCOLS = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  anthropic,
  google,
}

const [protocol = '', prompt = ''] = process.argv.slice(2)
const [name, mode] = protocol.split(':')
const answer = await PROTOCOLS[name](prompt, mode === 'stream')
process.stdout.write(`${answer}\n`)
