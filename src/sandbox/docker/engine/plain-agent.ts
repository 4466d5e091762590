import http from 'node:http'
import https from 'node:https'
import { inspect } from 'node:util'
import { tellBrokenAnswer } from './answers.ts'

type AddRequest = (request: http.ClientRequest, ...others: unknown[]) => void

/** What a request comes through first; Node's types leave it out. */
const { addRequest } = http.Agent.prototype as unknown as { addRequest: AddRequest }

/**
 * docker-modem formats its request options with unlimited depth on every call, which walks each socket of an agent:
 * a hundred calls in flight take seconds. These agents print as a word.
 */
export class PlainHttpAgent extends http.Agent {
  addRequest(request: http.ClientRequest, ...others: unknown[]): void {
    tellBrokenAnswer(request)
    addRequest.call(this, request, ...others)
  }

  [inspect.custom](): string {
    return 'Agent'
  }
}

export class PlainHttpsAgent extends https.Agent {
  addRequest(request: http.ClientRequest, ...others: unknown[]): void {
    tellBrokenAnswer(request)
    addRequest.call(this, request, ...others)
  }

  [inspect.custom](): string {
    return 'Agent'
  }
}
