// A breach on purpose: the floors' test shows with it that it would see one.
import { readFileSync } from 'node:fs'
import { store } from '../adapters/store.ts'

export const rule = [store, readFileSync]
