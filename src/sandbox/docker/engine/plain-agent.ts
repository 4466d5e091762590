import http from 'node:http'
import https from 'node:https'
import { inspect } from 'node:util'

/**
 * docker-modem formats its request options with unlimited depth on every call, which walks each socket of an agent:
 * a hundred calls in flight take seconds. These agents print as a word.
 */
export class PlainHttpAgent extends http.Agent {
  [inspect.custom](): string {
    return 'Agent'
  }
}

export class PlainHttpsAgent extends https.Agent {
  [inspect.custom](): string {
    return 'Agent'
  }
}
