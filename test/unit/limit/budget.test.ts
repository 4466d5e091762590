import { describe, expect, it } from 'vitest'
import { LimitExceededError } from '../../../src/errors.ts'
import { Budget } from '../../../src/limit/budget.ts'

const thrownBy = (code: () => void): unknown => {
  try {
    code()
    return undefined
  } catch (error) {
    return error
  }
}

describe('the budget of a sample', () => {
  it('has no end where no limit is set', () => {
    const budget = new Budget()
    for (let turn = 0; turn < 1000; turn++) budget.startTurn(turn)
    budget.useTokens(1_000_000)
    expect([budget.turns, budget.tokens]).toEqual([1000, 1_000_000])
  })

  it('allows exactly as many turns as its limit', () => {
    const budget = new Budget({ turns: 2 })
    budget.startTurn(0)
    budget.startTurn(0)
    expect(thrownBy(() => budget.startTurn(0))).toMatchObject({ type: 'turn', limit: 2 })
    expect(budget.turns).toBe(2)
  })

  it('refuses a turn that starts with as many messages as the limit', () => {
    const budget = new Budget({ messages: 3 })
    budget.startTurn(2)
    expect(thrownBy(() => budget.startTurn(3))).toMatchObject({ type: 'message', limit: 3 })
  })

  it('allows exactly as many tokens as its limit, and no turn after more', () => {
    const budget = new Budget({ tokens: 10 })
    budget.useTokens(10)
    budget.startTurn(0)
    const error = thrownBy(() => budget.useTokens(1))
    expect(error).toBeInstanceOf(LimitExceededError)
    expect(error).toMatchObject({ type: 'token', limit: 10, code: 'limit-exceeded' })
    expect(thrownBy(() => budget.startTurn(0))).toMatchObject({ type: 'token' })
  })
})
